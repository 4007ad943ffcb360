"""Static files of a production build: compressed, and named by their contents."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

OURS = "askew/"


class NamedByContent(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports between our modules, so that each is loaded once and under one name.

    Scripts of others are left as they are: some name files that they do not ship.
    """

    support_js_module_import_aggregation = True

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        """How a reference inside the file `name` is rewritten."""
        if name.endswith(".js") and not name.startswith(OURS):
            return lambda match: match[0]
        convert: Any = super().url_converter(name, hashed_files, template)
        return lambda match: str(convert(match))
