"""Static files of a production build: compressed, and named by their contents."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class NamedByContent(CompressedManifestStaticFilesStorage):
    """Also rewrites the imports between our modules, so that each is loaded once and under one name."""

    support_js_module_import_aggregation = True
