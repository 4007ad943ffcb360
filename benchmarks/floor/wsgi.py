"""What gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.floor.settings"
application = get_wsgi_application()
