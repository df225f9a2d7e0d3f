"""Every variable Checkrail reads from its environment, typed, in one place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class Environment(BaseSettings):
    """Nothing set: one process on SQLite. DATABASE_URL and REDIS_URL: many processes."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    database_url: str | None = Field(default=None, validation_alias="DATABASE_URL")
    redis_url: str | None = Field(default=None, validation_alias="REDIS_URL")
    secret_key: str | None = Field(default=None, validation_alias="SECRET_KEY")
    data: Path = Field(default=Path("var"), validation_alias="CHECKRAIL_DATA")
    port: int = Field(default=8000, ge=0, le=65535, validation_alias="CHECKRAIL_PORT")
    hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), validation_alias="CHECKRAIL_HOSTS"
    )
    origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), validation_alias="CHECKRAIL_ORIGINS"
    )
    lean_front: bool = Field(default=True, validation_alias="CHECKRAIL_LEAN_FRONT")
    pool_size: int = Field(
        default=16, ge=2, le=200, validation_alias="CHECKRAIL_POOL_SIZE"
    )
    log_level: str = Field(
        default="INFO",
        pattern="^(DEBUG|INFO|WARNING|ERROR)$",
        validation_alias="CHECKRAIL_LOG_LEVEL",
    )

    @field_validator("hosts", "origins", mode="before")
    @classmethod
    def _split_on_commas(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @property
    def embedded(self) -> bool:
        return self.database_url is None


def read_environment() -> Environment:
    """The environment, or one sentence a person can act on."""
    try:
        return Environment()
    except ValidationError as error:
        problems = "; ".join(
            f"{item['loc'][0]}: {item['msg']}" for item in error.errors()
        )
        raise ImproperlyConfigured(f"The environment is wrong: {problems}") from None


def database_settings(environment: Environment) -> dict[str, Any]:
    """Django's DATABASES["default"] for this environment."""
    if environment.database_url is None:
        return _sqlite(environment.data / "checkrail.sqlite3")
    url = urlsplit(environment.database_url)
    if url.scheme not in {"postgresql", "postgres"}:
        raise ImproperlyConfigured(
            "DATABASE_URL must begin with postgresql://. "
            "Leave it out to use SQLite in one process."
        )
    query = dict(parse_qsl(url.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.lstrip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": unquote(url.hostname or query.pop("host", "")),
        "PORT": str(url.port or query.pop("port", "")),
        # A connection that died with its server is noticed before it is used.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": 5,
            # One writer serves everybody: it must never wait long for somebody's lock,
            # nor hold one because its process was stopped in the middle.
            "options": "-c lock_timeout=2000 "
            "-c idle_in_transaction_session_timeout=10000",
            **query,
            "pool": {"min_size": 1, "max_size": environment.pool_size, "timeout": 5},
        },
    }


def _sqlite(path: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            # IMMEDIATE: a writer waits its turn at the start of its transaction
            # instead of failing with "database is locked" in the middle of it.
            "transaction_mode": "IMMEDIATE",
            "timeout": 5,
            "init_command": (
                "PRAGMA journal_mode=WAL;"
                "PRAGMA synchronous=FULL;"
                "PRAGMA wal_autocheckpoint=100;"
                "PRAGMA foreign_keys=ON;"
            ),
        },
        # A file, not memory: the ledger's writer has a connection of its own.
        "TEST": {"NAME": str(path.with_name("test.sqlite3"))},
    }


def secret_key(environment: Environment) -> str:
    """The given key; in the embedded profile one is made and kept in the data folder."""
    if environment.secret_key is not None:
        return environment.secret_key
    if not environment.embedded:
        raise ImproperlyConfigured(
            "SECRET_KEY is required with DATABASE_URL: set it to 50 or more random "
            "characters, the same for every process."
        )
    path = environment.data / "secret_key"
    environment.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(get_random_secret_key())
    return path.read_text().strip()
