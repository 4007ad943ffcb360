"""What a web process imports before its first request, so that no annotator waits for it."""


def preload() -> None:
    """Import the URLs with their views, all task types, and the HTTP client that asks models.

    Processes that gunicorn starts with --preload share this memory.
    """
    import httpx  # noqa: F401
    from django.urls import get_resolver

    from tasks.contract import task_types

    get_resolver().url_patterns  # noqa: B018  reading them imports the views
    task_types()
