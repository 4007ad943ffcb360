"""Django's tasks API, wherever it lives: `django.tasks` from 6.0 on, the package django-tasks on 5.2."""

try:
    from django.tasks import TaskResult, TaskResultStatus, task
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.exceptions import InvalidTask as InvalidTaskError
except ImportError:
    from django_tasks import TaskResult, TaskResultStatus, task  # type: ignore[no-redef, assignment]
    from django_tasks.backends.base import BaseTaskBackend  # type: ignore[assignment]
    from django_tasks.exceptions import InvalidTaskError  # type: ignore[assignment]

__all__ = ["BaseTaskBackend", "InvalidTaskError", "TaskResult", "TaskResultStatus", "task"]
