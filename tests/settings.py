"""Settings of the test suite: those of the platform, made quick and kept away from anyone's data."""

import atexit
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "0123456789abcdefghijklmnopqrstuvwxyz" * 2)
# Whatever the shell is set up for, the suite starts from an unconfigured, loopback-only platform.
for _name in (
    "DEBUG",
    "PUBLIC_URL",
    "PLAIN_HTTP",
    "TRUST_PROXY",
    "COMPRESS_STATIC",
    "PREDICTORS",
    "ALLOWED_HOSTS",
    "EMAIL_URL",
):
    os.environ.pop(_name, None)
# One folder for the whole run: pytest-xdist's workers are children and find it in the environment.
if "ASKEW_TEST_DATA_DIR" not in os.environ:
    if "pytest" in sys.modules:
        os.environ["ASKEW_TEST_DATA_DIR"] = tempfile.mkdtemp(prefix="askew-tests-")
        atexit.register(shutil.rmtree, os.environ["ASKEW_TEST_DATA_DIR"], ignore_errors=True)
    else:  # mypy only reads the settings, and leaves without tidying up
        os.environ["ASKEW_TEST_DATA_DIR"] = tempfile.gettempdir()
# In it, one for each process: what a test leaves is deleted at its end, beside tests of other processes.
os.environ["ASKEW_DATA_DIR"] = str(
    Path(os.environ["ASKEW_TEST_DATA_DIR"], os.environ.get("PYTEST_XDIST_WORKER", ""))
)

from config.settings import *  # noqa: E402
from config.settings import DATA_DIR, DATABASES, MIDDLEWARE, TASKS  # noqa: E402
from tests import template_variables  # noqa: E402

MIDDLEWARE = ["tests.in_flight.InFlight", *MIDDLEWARE]
# Every test client sets the middleware up anew: WhiteNoise would read all static files each time.
WHITENOISE_AUTOREFRESH = True
template_variables.raise_on_unknown_variables()
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# A job runs where it is enqueued; what a worker process adds is tested by starting one.
_PACKAGE = "django.tasks" if find_spec("django.tasks") else "django_tasks"
TASKS = {"default": {**TASKS["default"], "BACKEND": f"{_PACKAGE}.backends.immediate.ImmediateBackend"}}
DATABASES["default"]["CONN_MAX_AGE"] = 0
IMPORT_NICE = 0  # beside busy test processes a reading would wait for ever
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file: threads of a live server that share an in-memory database fail with "table is locked".
    DATABASES["default"]["NAME"] = str(DATA_DIR / "unused.sqlite3")
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "askew.sqlite3")}
