"""Django's settings: the one file, from the environment alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from config.database.data_folder import prepare_data
from config.environment import (
    build_database_settings,
    build_llm_settings,
    build_mail_settings,
    get_secret_key,
    read_environment,
)

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = read_environment()
EMBEDDED = ENVIRONMENT.embedded

# True: the data folder was open to other users of this machine, and is no more.
DATA_WAS_OPEN = EMBEDDED and prepare_data(ENVIRONMENT.data)
SECRET_KEY = get_secret_key(ENVIRONMENT)
DEBUG = False  # tracebacks belong in the log, never on a page
LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
ALLOWED_HOSTS = [*ENVIRONMENT.hosts, *(LOOPBACK if EMBEDDED else [])]
# Full origins (scheme, host, port) that browsers may post and open sockets from.
# Empty: only the very origin that served the page.
ORIGINS = list(ENVIRONMENT.origins)
# Whose word on a client's address and scheme is taken: addresses and networks.
PROXIES = ENVIRONMENT.proxies
FAST_PATH = ENVIRONMENT.fast_path
# Whether a page asks for one stylesheet and one script, or for each file they are made of.
BUNDLES = ENVIRONMENT.bundles
# How long the head and the body of a request may take, and how many connections a
# process holds: in all, and from one address that is no proxy.
HEAD_TIMEOUT_S = ENVIRONMENT.head_timeout_s
BODY_TIMEOUT_S = ENVIRONMENT.body_timeout_s
CONNECTIONS = ENVIRONMENT.connections
ADDRESS_CONNECTIONS = ENVIRONMENT.address_connections
# Event streams in one process.
STREAMS_PER_KEY = ENVIRONMENT.streams_per_key
STREAMS_PER_RUN = ENVIRONMENT.streams_per_run
# Requests that one key may send in a second; 0 is no limit.
KEY_RATE = ENVIRONMENT.key_rate
# Seconds between being asked to stop and stopping, in which load balancers notice.
DRAIN_S: int = ENVIRONMENT.drain_seconds
# Who sends it may read /metrics; without it, programs on this very machine alone.
METRICS_TOKEN = (
    ENVIRONMENT.metrics_token.get_secret_value() if ENVIRONMENT.metrics_token else None
)
# Where people reach the console: links in answers begin with it.
PUBLIC_URL = ORIGINS[0] if ORIGINS else f"http://127.0.0.1:{ENVIRONMENT.port}"
# The port that the server listens at; a process learns the real one from its listener.
SERVED_PORT: int = ENVIRONMENT.port

INSTALLED_APPS = [
    "config",
    "demo",
    "console",
    "loop",
    "notifications",
    "webhooks",
    "gateway",
    "reviews",
    "ledger",
    "guidance",
    "accounts",
    "channels",
    "csp",
    "django_htmx",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.server.static_files.serve_static_files",
    "config.server.compression.compress_answers",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.pages.answer_wrong_methods",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "OPTIONS": {
            "builtins": [
                "console.templatetags.icons",
                "console.templatetags.terms",
                "console.templatetags.times",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "console.layout.add_page_frame",
            ],
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
        },
    }
]

DATABASES = {"default": build_database_settings(ENVIRONMENT)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [ENVIRONMENT.redis_url]},
    }
    if ENVIRONMENT.redis_url
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# Attempts to sign in are counted here; several processes count together, and each for
# itself while Redis is away. Strangers must not push out what was counted of others.
LOCAL_CACHE: dict[str, Any] = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    "LOCATION": "local",
    "OPTIONS": {"MAX_ENTRIES": 50_000},
}
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": ENVIRONMENT.redis_url,
        "KEY_PREFIX": "checkrail",
        # A Redis that hangs must hold up nobody.
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
    }
    if ENVIRONMENT.redis_url
    else LOCAL_CACHE,
    "local": LOCAL_CACHE,
}

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {
        "NAME": "django.contrib.auth.password_validation."
        "UserAttributeSimilarityValidator"
    },
]
LOGIN_URL = "accounts:sign-in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "accounts:sign-in"

# Behind TLS every cookie is bound to this host and to https.
HTTPS = bool(ORIGINS) and all(origin.startswith("https://") for origin in ORIGINS)
CSRF_TRUSTED_ORIGINS = ORIGINS
SESSION_COOKIE_NAME = "__Host-session" if HTTPS else "checkrail_session"
CSRF_COOKIE_NAME = "__Host-csrf" if HTTPS else "checkrail_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

STATIC_URL = "/static/"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "config.server.static_files.HashedNames"},
}

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "config.logging.OneLineFormatter"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line"},
    },
    "root": {"handlers": ["console"], "level": ENVIRONMENT.log_level},
    "filters": {"brief": {"()": "config.logging.Brief"}},
    "loggers": {
        # Anybody may send a wrong Host header or a thousand fields, as often as they like.
        **{
            f"django.security.{refusal}": {"filters": ["brief"]}
            for refusal in (
                "DisallowedHost",
                "RequestDataTooBig",
                "SuspiciousMultipartForm",
                "TooManyFieldsSent",
                "TooManyFilesSent",
            )
        },
        # Client mistakes are answered, not logged as warnings.
        "django.request": {"level": "ERROR"},
        "celery": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        # It would tell what servers answer, headers and all.
        "httpcore": {"level": "WARNING"},
        # `up` says itself when it is ready, and where.
        "uvicorn": {"level": "WARNING"},
    },
}

CELERY_BROKER_URL = ENVIRONMENT.redis_url or "memory://localhost/"

# The model that judges where a gate asks for it; None: nothing is ever sent anywhere.
LLM = build_llm_settings(ENVIRONMENT)

# Mail to people; without MAIL_FROM none is sent, and links are shown to copy.
_MAIL = build_mail_settings(ENVIRONMENT)
MAIL_FROM = _MAIL.sender
# Without a mail server mail about reviews is printed, as everything the server says.
_BACKEND = "smtp" if _MAIL.sender else "console"
EMAIL_BACKEND = f"django.core.mail.backends.{_BACKEND}.EmailBackend"
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_SSL, EMAIL_USE_TLS = _MAIL.ssl, _MAIL.starttls
EMAIL_TIMEOUT = 10
# How long a link to choose a new password works.
PASSWORD_RESET_TIMEOUT = 3 * 86_400

# Receivers of webhooks that need not be public: host:port or networks.
WEBHOOK_ALLOW = ENVIRONMENT.webhook_allow
