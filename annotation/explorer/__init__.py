"""The explorer: find items and responses of a project, and act on them.

selection   query parameters -> a frozen `Selection`, and back; pure
item_access what a `Reader` may see of a project
querysets   a `Selection` and a `Reader` -> items, as a queryset (response_filters, release_filters)
index       what responses say, in a form that a database filters quickly
rows        what a page shows of some items (result_pages, result_counts)
"""
