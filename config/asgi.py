"""The ASGI application, for a web server to call."""

import os

from django.core.asgi import get_asgi_application

from annotation.platform import migration_state
from annotation.platform.database import limits
from config.preload import preload

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_asgi_application()
limits.use(limits.WEB)
migration_state.process.is_fit = False  # until its first request has looked
preload()
