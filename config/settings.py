"""Every setting of the platform, read from the environment once.

| variable          | meaning                                                                                   |
|-------------------|-------------------------------------------------------------------------------------------|
| SECRET_KEY        | required; signs sessions and tokens. At least 32 characters where PUBLIC_URL is set       |
| DATABASE_URL      | sqlite:///PATH or postgres://USER:PASSWORD@HOST:PORT/NAME; default: SQLite in the data    |
| CONN_MAX_AGE      | seconds a connection to PostgreSQL is kept; default: 600                                  |
| DB_CONNECT_TIMEOUT | seconds until connecting to PostgreSQL fails; default: 4                                 |
| DB_KEEPALIVES_IDLE | seconds of silence after which TCP asks whether PostgreSQL's machine is there; default: 30 |
| DB_KEEPALIVES_INTERVAL | seconds between two such questions; default: 10                                      |
| DB_KEEPALIVES_COUNT | unanswered questions that end the connection; default: 3                                |
| DB_TCP_USER_TIMEOUT | seconds until unacknowledged data ends the connection; default: 20            |
| DB_STATEMENT_TIMEOUT_WEB | seconds for one statement of a web process, 0 for no limit; default: 6             |
| DB_STATEMENT_TIMEOUT_WORKER | the same of a worker; default: 600                                              |
| DB_STATEMENT_TIMEOUT_COMMAND | the same of a command; default: 6 hours. Migrations have no limit              |
| DB_IDLE_IN_TRANSACTION_TIMEOUT_WEB | seconds between two statements of a transaction; default: 60             |
| DB_IDLE_IN_TRANSACTION_TIMEOUT_WORKER | the same of a worker; default: 1 hour                                 |
| DB_IDLE_IN_TRANSACTION_TIMEOUT_COMMAND | the same of a command, such as a backup; default: 24 hours           |
| ASKEW_DATA_DIR    | folder of the database, uploads, releases, evaluations; default: var/ beside manage.py    |
| SIGNING_KEY       | file with the key that signs releases, outside the data folder; default: none, no signature |
| PUBLIC_URL        | the address people type, e.g. https://askew.example.org/tables; default: loopback only    |
| PLAIN_HTTP        | true where PUBLIC_URL may be http beyond this machine: on a network that all of you trust |
| ALLOWED_HOSTS     | further host names to answer to, separated by commas (a load balancer's health check)     |
| TRUST_PROXY       | true where a proxy in front always sets X-Forwarded-Proto and X-Request-ID itself        |
| HSTS_SECONDS      | how long browsers insist on https; default: 30 days when PUBLIC_URL is https              |
| COMPRESS_STATIC   | true in a production build: `collectstatic`, compressed files with the digest in the name |
| MAX_UPLOAD_BYTES  | the largest upload that is taken; default: 256 MB                                         |
| MAX_IMPORT_BYTES  | the largest file of an import, also of one sent in slices; default: 512 MB                |
| IMPORT_SECONDS    | how long an uploaded file is read at most; default: 3600                                  |
| PREVIEW_SECONDS   | how long the preview of an uploaded file takes at most; default: 20                       |
| IMPORT_MEMORY     | MB of memory that reading an uploaded file takes at most; default: 2048                   |
| IMPORT_NICE       | how far reading uploaded files yields to other processes; default: 19, the farthest |
| IMPORT_SPACE      | MB of disk that one file takes that is written meanwhile; default: 8192                   |
| ASKEW_DEMO_SECRET | set by ./run demo alone, again at each start: the demo's links need it             |
| EMAIL_URL         | the mail server, e.g. smtp+tls://USER:PASSWORD@HOST:587; default: none, nothing is sent    |
| MAIL_FROM         | whom mail is from; default: askew@ and the host of PUBLIC_URL                             |
| PREDICTORS        | models to ask, as JSON: {"name": {"url", "model"}}; see docs/reference/settings.md        |
| MODEL_GATEWAY     | true where the proxy passes /gateway/ to the gateway (python -m config.gateway)           |
| METRICS_TOKEN     | at least 16 characters: /metrics answers requests with it as a bearer token; default: none |
| LOG_LEVEL         | default INFO                                                                              |
| LOG_FORMAT        | line (words) or json (one object a line); default: line                                   |
| LOG_REQUESTS      | true: a record for each request, by the view's name; default: false                       |
| DEBUG             | default false, also in the demo                                                           |
"""

import os
import re
from importlib.metadata import entry_points
from importlib.util import find_spec
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from whitenoise.compress import Compressor

from predictor.configuration import ConfigurationError
from predictor.configuration import read as read_predictors
from tableqa.core.command_line import PROGRAM

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("ASKEW_DATA_DIR") or BASE_DIR / "var").resolve()

# --- the key -----------------------------------------------------------------------------------------------
# Read without django-environ, which takes a leading "$" for the name of another variable.
SHORTEST_KEY = 32
SECRET_KEY = os.environ.get("SECRET_KEY", "")
if not SECRET_KEY:
    raise ImproperlyConfigured(
        'SECRET_KEY is not set. Set it to a long random string and keep it (python3 -c "import '
        f'secrets; print(secrets.token_urlsafe(50))"). {PROGRAM} demo creates one for its own data; '
        f"{PROGRAM} manage uses that one."
    )
DEBUG = env.bool("DEBUG", default=False)

# The key that signs releases. Outside the data folder, so that no backup contains it.
SIGNING_KEY = Path(os.environ["SIGNING_KEY"]).resolve() if os.environ.get("SIGNING_KEY") else None
if SIGNING_KEY is not None and SIGNING_KEY.is_relative_to(DATA_DIR):
    raise ImproperlyConfigured(
        f"SIGNING_KEY is {str(SIGNING_KEY)!r}, in the data folder. Put the key elsewhere: backups must not contain it."
    )


# --- where people reach it ---------------------------------------------------------------------------------
def _public_url(url: str) -> tuple[str, str, str]:
    """Scheme, host (with port) and path of PUBLIC_URL as browsers send them; the path is "" or like "/askew".

    Browsers write the host in small letters and ASCII (IDNA), an IPv6 address in its short form, and leave out the default
    port. A dot at the end of the host stays in what they send, so `ALLOWED_HOSTS` and the origins have both forms.
    """
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").removesuffix(".")
        if ":" in host:
            host = f"[{IPv6Address(host).compressed}]"
        elif not host.isascii():
            import idna

            host = idna.encode(host, uts46=True).decode()
        elif re.fullmatch(r"\d+|0x[0-9a-f]*", host.rpartition(".")[2]):
            host = str(IPv4Address(host))  # browsers rewrite other numbers, such as 127.1
    except ValueError:
        parts, port, host = urlsplit(""), None, ""
    if (
        parts.scheme not in ("http", "https")
        or re.fullmatch(r"\[[0-9a-f:.]+\]|[a-z0-9-]+(\.[a-z0-9-]+)*", host) is None
        or re.search(r"[\s?#\\@]", url)
    ):
        raise ImproperlyConfigured(
            f'PUBLIC_URL is {url!r}; it must be a complete address without spaces, user name, "?" or "#", '
            'without "_" in its host. Examples: https://askew.example.org or https://example.org/askew.'
        )
    default = {"http": 80, "https": 443}[parts.scheme]
    return parts.scheme, host if port in (None, default) else f"{host}:{port}", parts.path.rstrip("/")


def _is_loopback(host: str) -> bool:
    """Whether a host, with or without a port, is this machine by itself."""
    name = urlsplit(f"//{host}").hostname or ""
    return name in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", name) is not None


PUBLIC_URL = env.str("PUBLIC_URL", default="").rstrip("/")
TRUST_PROXY = env.bool("TRUST_PROXY", default=False)
# Loopback names stay allowed behind a proxy, for health checks on the machine itself.
ALLOWED_HOSTS = [
    "localhost",
    "127.0.0.1",
    "[::1]",
    *(name.strip().removesuffix(".") for name in env.list("ALLOWED_HOSTS", default=[])),
]
HTTPS = False
if PUBLIC_URL:
    if len(SECRET_KEY) < SHORTEST_KEY:
        raise ImproperlyConfigured(
            f"SECRET_KEY has {len(SECRET_KEY)} characters; with PUBLIC_URL it needs at least "
            f"{SHORTEST_KEY}. Sessions and password links depend on it."
        )
    if DEBUG:
        raise ImproperlyConfigured("DEBUG exposes internals. Remove it if PUBLIC_URL is set.")
    _scheme, _host, _path = _public_url(PUBLIC_URL)
    HTTPS = _scheme == "https"
    if not HTTPS and not env.bool("PLAIN_HTTP", default=False) and not _is_loopback(_host):
        raise ImproperlyConfigured(
            f"PUBLIC_URL is {PUBLIC_URL!r}: passwords and sessions would travel unencrypted. Put a "
            "proxy with https in front (docs/operations.md), or set PLAIN_HTTP=true on a trusted "
            "network."
        )
    PUBLIC_URL = f"{_scheme}://{_host}{_path}"
    _name, _port = re.fullmatch(r"(.+?)(:\d+)?", _host).groups(default="")  # type: ignore[union-attr]
    ALLOWED_HOSTS.append(_name)
    # A name with a dot behind it is the same host, and the browser sends the dot.
    CSRF_TRUSTED_ORIGINS = [f"{_scheme}://{_host}"] + [f"{_scheme}://{_name}.{_port}"] * (_name[0] != "[")
    if _path:
        # The proxy takes the path off before it passes a request on; here it is put before every link.
        FORCE_SCRIPT_NAME = _path
        SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = LANGUAGE_COOKIE_PATH = f"{_path}/"
        # Names of our own: browsers send the cookies of another application at the root of this host, too.
        SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "askew_sessionid", "askew_csrftoken"

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Without the proxy's word every request looks like http, and a redirect to https would never end.
SECURE_SSL_REDIRECT = HTTPS and TRUST_PROXY
# What machines ask for next door, where there is no TLS.
_prefix = re.escape(f"{globals().get('FORCE_SCRIPT_NAME', '')}/"[1:])
SECURE_REDIRECT_EXEMPT = [rf"^{_prefix}(healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = env.int("HSTS_SECONDS", default=30 * 24 * 3600 if HTTPS else 0)
# Whether sub-domains join, and whether browsers ship the name, is for the owner of the domain to say, not for one site.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# --- the parts ---------------------------------------------------------------------------------------------


def _task_type_apps() -> list[str]:
    """The Django apps of all kinds of annotation: folders of tasks/, and packages that announce one.

    A package outside the repository names its TaskType under the entry-point group `askew.task_types`; the package
    that holds the named module is the app (`lab.spelling.task:Spelling` and `lab.spelling:Spelling`: `lab.spelling`).
    """
    inside = [f"tasks.{path.parent.name}" for path in sorted((BASE_DIR / "tasks").glob("*/task.py"))]
    outside = [entry.module.removesuffix(".task") for entry in entry_points(group="askew.task_types")]
    return [*inside, *(app for app in sorted(set(outside)) if app not in inside)]


INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",  # the site is annotation/admin.py
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    *([] if find_spec("django.tasks") else ["django_tasks"]),  # part of Django from 6.0
    "django_tasks_db",
    "annotation",
    "tasks.shared",
    *_task_type_apps(),
]

MIDDLEWARE = [
    "config.sub_path.StripPrefixMiddleware",  # before everything that looks at the path
    "config.observing.RequestLogMiddleware",  # around everything: what was refused is noted, too
    "config.csp.ContentSecurityPolicy",  # outermost: static files and refusals carry the policy too
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.language.RequestLanguageMiddleware",
    "config.database_version.RefuseIncompatibleDatabase",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "annotation.access.session_user.WithAssignment",
    "config.request_size.RequestSizeLimit",  # knows who asks; nothing above it reads what was sent
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.language.language_context",
            ],
            "builtins": ["django.templatetags.i18n", "annotation.templatetags.language"],
        },
    },
]


# --- the database ------------------------------------------------------------------------------------------
def _database(url: str) -> dict[str, Any]:
    """Django's settings for one database URL; raises ImproperlyConfigured for anything but SQLite and PostgreSQL."""
    config: dict[str, Any] = environ.Env.db_url_config(url)
    engine = config.get("ENGINE", "")
    if engine == "django.db.backends.sqlite3":
        # IMMEDIATE: a transaction that will write takes the lock at its start and waits its turn, instead of failing
        # half-way. FULL: work that was acknowledged survives a power cut.
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,  # seconds, while connecting; afterwards DATABASE_LIMITS
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
        }
        config["ENGINE"] = "annotation.platform.database.sqlite3"
        config["CONN_MAX_AGE"] = None
        if config["NAME"] != ":memory:":
            Path(config["NAME"]).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    elif engine == "django.db.backends.postgresql":
        host = urlsplit(url).netloc.rpartition("@")[2].rpartition(":")
        socket_folder = unquote(host[0] or host[2])
        if socket_folder.startswith(
            "/"
        ):  # postgres://user@%2Fvar%2Frun/name, which django-environ reads wrongly
            config["HOST"] = socket_folder
        if "host" in config.get("OPTIONS", {}):  # postgres://user@/name?host=/var/run
            config["HOST"] = config["OPTIONS"].pop("host")
        config["ENGINE"] = "annotation.platform.database.postgresql"
        # All of them are libpq's own: none is sent to the server, where a pooler might refuse it.
        config["OPTIONS"] = {
            "connect_timeout": env.int("DB_CONNECT_TIMEOUT", default=4),
            "keepalives_idle": env.int("DB_KEEPALIVES_IDLE", default=30),
            "keepalives_interval": env.int("DB_KEEPALIVES_INTERVAL", default=10),
            "keepalives_count": env.int("DB_KEEPALIVES_COUNT", default=3),
            "tcp_user_timeout": env.int("DB_TCP_USER_TIMEOUT", default=20) * 1000,
            **config.get("OPTIONS", {}),
        }
        config["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", default=600)
        config["CONN_HEALTH_CHECKS"] = True
    else:
        raise ImproperlyConfigured(
            "DATABASE_URL must start with sqlite:/// or postgres://; "
            f"{urlsplit(url).scheme or 'a URL without a scheme'!r} is not supported."
        )
    return config


DATABASES = {
    "default": _database(os.environ.get("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'askew.sqlite3'}")
}
# What annotation/platform/database/limits.py holds each process to, by its role.
DATABASE_LIMITS = {
    "web": {
        "statement": env.float("DB_STATEMENT_TIMEOUT_WEB", default=6),
        "idle_in_transaction": env.float("DB_IDLE_IN_TRANSACTION_TIMEOUT_WEB", default=60),
    },
    "worker": {
        "statement": env.float("DB_STATEMENT_TIMEOUT_WORKER", default=600),
        "idle_in_transaction": env.float("DB_IDLE_IN_TRANSACTION_TIMEOUT_WORKER", default=3600),
    },
    "command": {
        "statement": env.float("DB_STATEMENT_TIMEOUT_COMMAND", default=6 * 3600),
        "idle_in_transaction": env.float("DB_IDLE_IN_TRANSACTION_TIMEOUT_COMMAND", default=24 * 3600),
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- people ------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "annotation.Person"
AUTHENTICATION_BACKENDS = ["annotation.access.session_user.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "annotation.workflow.projects.LongPassword", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
# The session is in the signed cookie; a person's session_epoch, part of the auth hash, revokes it without a query.
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"

# Drawn by ./run demo for one run; without it there are no demo links (annotation/management/demo_world.py), and on a public
# address there are none in any case.
DEMO_SECRET = "" if PUBLIC_URL else os.environ.get("ASKEW_DEMO_SECRET", "")

# --- mail --------------------------------------------------------------------------------------------------
HAS_MAIL = bool(os.environ.get("EMAIL_URL"))
if HAS_MAIL:
    globals().update(env.email_url("EMAIL_URL"))
    EMAIL_TIMEOUT = 20
else:
    EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
DEFAULT_FROM_EMAIL = env.str("MAIL_FROM", default=f"askew@{urlsplit(PUBLIC_URL).hostname or 'localhost'}")
PASSWORD_RESET_TIMEOUT = 24 * 3600

# --- language and time -------------------------------------------------------------------------------------
# The languages of the pages. A further one is a line here and a folder in locale/: docs/translating.md.
LANGUAGES = [("en-gb", "English"), ("de", "Deutsch")]
LANGUAGE_CODE = "en-gb"
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.locale_formats"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_SECURE = HTTPS
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
USE_TZ = True
TIME_ZONE = "UTC"  # days and weeks are counted in a project's own zone

# --- files -------------------------------------------------------------------------------------------------
# With the path of PUBLIC_URL said here: Django would put it in front too late for whitenoise.
STATIC_URL = f"{globals().get('FORCE_SCRIPT_NAME', '')}/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
COMPRESS_STATIC = env.bool("COMPRESS_STATIC", default=False)
# Compressing takes half a minute: without it the files are served from their folder, and nothing is collected.
WHITENOISE_USE_FINDERS = not COMPRESS_STATIC
STATIC_ROOT = DATA_DIR / "static" if COMPRESS_STATIC else None
# Nothing asks for a file by its plain name; maps are for debugging.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")
MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "config.static_files.HashedStaticFilesStorage"
        if COMPRESS_STATIC
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
FILE_UPLOAD_PERMISSIONS = 0o640
MAX_UPLOAD_BYTES = env.int("MAX_UPLOAD_BYTES", default=256 * 1024 * 1024)
MAX_IMPORT_BYTES = env.int("MAX_IMPORT_BYTES", default=512 * 1024 * 1024)  # of one file, also in slices
IMPORT_SECONDS = env.int("IMPORT_SECONDS", default=3600)
IMPORT_MEMORY = env.int("IMPORT_MEMORY", default=2048)  # MB
PREVIEW_SECONDS = env.int("PREVIEW_SECONDS", default=20)
IMPORT_NICE = env.int("IMPORT_NICE", default=19)
IMPORT_SPACE = env.int("IMPORT_SPACE", default=8192)  # MB
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024  # bytes of a request besides its files
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
DATA_UPLOAD_MAX_NUMBER_FILES = 1000  # an import brings its tables along

# --- the programming interface -----------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.web.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["annotation.web.api.parsers.ShallowJSONParser"],
    "URL_FORMAT_OVERRIDE": None,  # there is one format
    "DEFAULT_PAGINATION_CLASS": "annotation.web.api.pagination.ByNewest",
    "EXCEPTION_HANDLER": "annotation.web.api.problems.exception_handler",
    "PAGE_SIZE": 50,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Askew",
    "DESCRIPTION": "Annotate tables, adjudicate, and release benchmarks whose figures can be recomputed.",
    "VERSION": "1",
    # The paths of the schema begin below the path of the site.
    "SERVERS": [{"url": globals()["FORCE_SCRIPT_NAME"]}] if "FORCE_SCRIPT_NAME" in globals() else [],
    "SERVE_INCLUDE_SCHEMA": False,
    # Two fields are called "state"; each kind of state has its own name in the schema.
    "ENUM_NAME_OVERRIDES": {
        "ProposalStateEnum": ["took", "rejected", ""],
        "OwnItemStateEnum": ["submitted", "skipped"],
        "PredictionKindEnum": ["preview", "try"],
    },
}

# --- jobs and the log --------------------------------------------------------------------------------------
TASKS = {
    "default": {
        "BACKEND": "django_tasks_db.DatabaseBackend",
        "QUEUES": ["default", "loop", "models", "imports", "previews"],  # as in annotation/background/jobs.py
    }
}

# --- models ------------------------------------------------------------------------------------------------
try:
    PREDICTORS = read_predictors(os.environ.get("PREDICTORS", ""))
except ConfigurationError as error:
    raise ImproperlyConfigured(str(error)) from None

# Answers of models come from its own process, behind the proxy.
MODEL_GATEWAY = env.bool("MODEL_GATEWAY", default=False)

# --- what is noted -----------------------------------------------------------------------------------------
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")
if METRICS_TOKEN and not re.fullmatch(r"[!-~]{16,}", METRICS_TOKEN):
    raise ImproperlyConfigured(
        "METRICS_TOKEN must have at least 16 characters, without spaces: it gives access to the metrics."
    )
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
LOG_FORMAT = env.str("LOG_FORMAT", default="line")
if LOG_FORMAT not in ("line", "json"):
    raise ImproperlyConfigured(f"LOG_FORMAT is {LOG_FORMAT!r}; it must be line or json.")
LOG_REQUESTS = env.bool("LOG_REQUESTS", default=False)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "config.logs.JsonFormatter"},
        "line": {
            "()": "config.logs.LineFormatter",
            "format": "{asctime} {levelname} {name} {message}",
            "style": "{",
            "datefmt": "%Y-%m-%dT%H:%M:%S%z",
        },
    },
    # The level is the handler's, too: the queue's worker sets its own loggers as it likes.
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "level": LOG_LEVEL}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "filters": {"without_traceback": {"()": "config.logs.WithoutTraceback"}},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        # Scanners ask for hosts of their own: the message names the host, and a traceback of Django adds nothing.
        "django.security.DisallowedHost": {"filters": ["without_traceback"]},
        "httpx": {"level": "WARNING"},
        "matplotlib": {"level": "WARNING"},
        "fontTools": {"level": "WARNING"},
    },
}
