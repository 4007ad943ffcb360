"""Django's tasks API, in any package: `django.tasks` from 6.0 on, the package django-tasks on 5.2."""

try:
    from django.tasks import task
except ImportError:
    from django_tasks import task  # type: ignore[no-redef]

__all__ = ["task"]
