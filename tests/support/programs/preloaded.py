"""What a process of Checkrail imports before it reads a setting.

It is imported once, by the process that tests/support/programs/forked.py forks from.
"""

from __future__ import annotations

from importlib import import_module

from django.conf import settings

MODULES = (
    "celery.app.base",
    "channels.layers",
    "channels_redis.pubsub",
    "cryptography.fernet",
    "django.contrib.auth.hashers",
    "django.core.handlers.asgi",
    "django.core.management",
    "django.db.models",
    "django.template.defaultfilters",
    "django.test",
    "django.views.generic",
    "guidance.core.policy",
    "guidance.core.tools",
    "httpx",
    "opentelemetry.sdk.metrics",
    "opentelemetry.sdk.trace",
    "psycopg_pool",
    "pydantic",
    "pytest",
    "redis.asyncio",
    "uvicorn.main",
    "uvloop",
)

for name in MODULES:
    import_module(name)
    # Settings belong to the program that is run: it has an environment of its own.
    assert not settings.configured, name
