"""The explorer: find items and responses of a project, and act on them.

selection   query parameters -> a frozen `Selection`, and back; pure
querysets   a `Selection` and a `Reader` -> items, as a queryset
index       what responses say, in a form that a database filters quickly
rows        what a page shows of some items
"""
