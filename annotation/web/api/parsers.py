"""JSON of requests, with one limit of depth on every Python."""

from typing import Any

from rest_framework.parsers import JSONParser

from tableqa.core.json_text import check_depth


class ShallowJSONParser(JSONParser):
    """Raises RecursionError, which becomes a problem document, where a request is nested too deeply."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        value = super().parse(*args, **kwargs)
        check_depth(value)
        return value
