"""Lists are read page by page with a cursor: what is added meanwhile shifts nothing."""

from rest_framework.pagination import CursorPagination


class ByNewest(CursorPagination):
    """Newest first, 50 a page, at most 200."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
    ordering = "-pk"
