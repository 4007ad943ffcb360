"""The WSGI application, for a web server to call."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from annotation import migration_state
from annotation.database import limits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
limits.use(limits.WEB)
migration_state.process.is_fit = False  # until its first request has looked
get_resolver().url_patterns  # noqa: B018  read now, and not in each process by the first who comes: so processes share it
