"""Every variable Checkrail reads from its environment, typed, in one place."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from config.database.data_folder import DATABASE, KEY_FILE
from config.server.proxy_addresses import check_proxies
from guidance.core.money import parse_usd


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
    proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), validation_alias="CHECKRAIL_PROXIES"
    )
    fast_path: bool = Field(default=True, validation_alias="CHECKRAIL_FAST_PATH")
    bundles: bool = Field(default=True, validation_alias="CHECKRAIL_BUNDLES")
    key_rate: int = Field(
        default=200, ge=0, le=1_000_000, validation_alias="CHECKRAIL_KEY_RATE"
    )
    head_timeout_s: int = Field(
        default=10, ge=1, le=300, validation_alias="CHECKRAIL_HEAD_TIMEOUT_S"
    )
    body_timeout_s: int = Field(
        default=30, ge=1, le=600, validation_alias="CHECKRAIL_BODY_TIMEOUT_S"
    )
    connections: int = Field(
        default=10_000, ge=16, le=1_000_000, validation_alias="CHECKRAIL_CONNECTIONS"
    )
    address_connections: int = Field(
        default=2_000,
        ge=8,
        le=1_000_000,
        validation_alias="CHECKRAIL_ADDRESS_CONNECTIONS",
    )
    streams_per_key: int = Field(
        default=50, ge=1, le=100_000, validation_alias="CHECKRAIL_STREAMS_PER_KEY"
    )
    streams_per_run: int = Field(
        default=100, ge=1, le=100_000, validation_alias="CHECKRAIL_STREAMS_PER_RUN"
    )
    drain_s: int | None = Field(
        default=None, ge=0, le=300, validation_alias="CHECKRAIL_DRAIN_S"
    )
    metrics_token: SecretStr | None = Field(
        default=None, min_length=16, validation_alias="CHECKRAIL_METRICS_TOKEN"
    )
    pool_size: int = Field(
        default=16, ge=2, le=200, validation_alias="CHECKRAIL_POOL_SIZE"
    )
    log_level: str = Field(
        default="INFO",
        pattern="^(DEBUG|INFO|WARNING|ERROR)$",
        validation_alias="CHECKRAIL_LOG_LEVEL",
    )
    llm_url: str | None = Field(default=None, validation_alias="CHECKRAIL_LLM_URL")
    llm_format: Literal["openai", "anthropic"] | None = Field(
        default=None, validation_alias="CHECKRAIL_LLM_FORMAT"
    )
    llm_model: str | None = Field(
        default=None, min_length=1, validation_alias="CHECKRAIL_LLM_MODEL"
    )
    llm_key: SecretStr | None = Field(
        default=None, validation_alias="CHECKRAIL_LLM_KEY"
    )
    llm_timeout_s: int = Field(
        default=20, ge=1, le=300, validation_alias="CHECKRAIL_LLM_TIMEOUT_S"
    )
    llm_input_price: str | None = Field(
        default=None, validation_alias="CHECKRAIL_LLM_INPUT_PRICE"
    )
    llm_output_price: str | None = Field(
        default=None, validation_alias="CHECKRAIL_LLM_OUTPUT_PRICE"
    )

    mail_url: SecretStr | None = Field(
        default=None, validation_alias="CHECKRAIL_MAIL_URL"
    )
    mail_from: str | None = Field(default=None, validation_alias="CHECKRAIL_MAIL_FROM")
    webhook_allow: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), validation_alias="CHECKRAIL_WEBHOOK_ALLOW"
    )

    @field_validator("hosts", "origins", "proxies", "webhook_allow", mode="before")
    @classmethod
    def _split_on_commas(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("proxies")
    @classmethod
    def _check_proxies(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        check_proxies(value)
        return value

    @property
    def embedded(self) -> bool:
        return self.database_url is None

    @property
    def drain_seconds(self) -> int:
        """None by default in one process, which stands behind no load balancer."""
        if self.drain_s is None:
            return 0 if self.embedded else 5
        return self.drain_s


def read_environment() -> Environment:
    """The environment, or one sentence a person can act on."""
    try:
        return Environment()
    except ValidationError as error:
        problems = "; ".join(
            f"{item['loc'][0]}: {item['msg']}" for item in error.errors()
        )
        raise ImproperlyConfigured(f"The environment is wrong: {problems}") from None


def build_database_settings(environment: Environment) -> dict[str, Any]:
    """Django's DATABASES["default"] for this environment."""
    if environment.database_url is None:
        # Absolute: the folder of a process may change.
        return _build_sqlite_settings((environment.data / DATABASE).absolute())
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
            "connect_timeout": 3,
            # A server that is gone without a word, as after a failover, is noticed within
            # ten seconds, not when TCP gives up after a quarter of an hour.
            "keepalives_idle": 4,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
            # One writer serves everybody: it must never wait long for somebody's lock,
            # nor hold one because its process was stopped in the middle.
            "options": "-c lock_timeout=2000 "
            "-c idle_in_transaction_session_timeout=10000",
            **query,
            # The writer's few statements stay prepared; Django's own never are.
            "prepare_threshold": 5,
            "pool": {
                "min_size": 1,
                "max_size": environment.pool_size,
                "timeout": 5,
                # Its pauses between attempts double until it gives up, and then it tries
                # again for whoever asks: with the default of five minutes a database that
                # was away for four is not noticed for two more.
                "reconnect_timeout": 4,
            },
        },
    }


def _build_sqlite_settings(path: Path) -> dict[str, Any]:
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
                # Pages that many commits change are copied once for all of them.
                "PRAGMA wal_autocheckpoint=1000;"
                # Rows of a statement that are put aside need no file.
                "PRAGMA temp_store=MEMORY;"
                "PRAGMA foreign_keys=ON;"
            ),
        },
        # A file, not memory: the ledger's writer has a connection of its own.
        "TEST": {"NAME": str(path.with_name("test.sqlite3"))},
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """How mail is sent; without a `sender` none is."""

    sender: str = ""
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    ssl: bool = False
    starttls: bool = False


_MAIL_PORTS = {"smtp": 587, "smtps": 465}


def build_mail_settings(environment: Environment) -> Mail:
    given = environment.mail_url
    if given is None and environment.mail_from is None:
        return Mail()
    if given is None or not environment.mail_from:
        raise ImproperlyConfigured(
            "CHECKRAIL_MAIL_URL and CHECKRAIL_MAIL_FROM go together: where mail is "
            "handed in, and whom it is from."
        )
    try:
        url = urlsplit(given.get_secret_value())
        host, port = url.hostname or "", url.port
    except ValueError:
        host, port = "", None
    if not host or url.scheme not in _MAIL_PORTS:
        raise ImproperlyConfigured(
            "CHECKRAIL_MAIL_URL is no address of a mail server: give one such as "
            "smtp://name:password@mail.example:587, or smtps:// for TLS from the start."
        )
    return Mail(
        sender=environment.mail_from,
        host=host,
        port=port or _MAIL_PORTS[url.scheme],
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        ssl=url.scheme == "smtps",
        # In the open only to this very machine: others could read the links.
        starttls=url.scheme == "smtp" and not _is_this_machine(host),
    )


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def get_secret_key(environment: Environment) -> str:
    """The given key; in the embedded profile one is made and kept in the data folder."""
    if environment.secret_key is not None:
        return environment.secret_key
    if not environment.embedded:
        raise ImproperlyConfigured(
            "SECRET_KEY is required with DATABASE_URL: set it to 50 or more random "
            "characters, the same for every process."
        )
    path = environment.data / KEY_FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(get_random_secret_key())
    return path.read_text().strip()


def build_llm_settings(environment: Environment) -> dict[str, Any] | None:
    """Where questions to a model go and what they cost; None is the default: nowhere."""
    if environment.llm_url is None:
        alone = sorted(
            str(Environment.model_fields[name].validation_alias)
            for name in environment.model_fields_set
            if name.startswith("llm_")
        )
        if alone:
            raise ImproperlyConfigured(
                f"{' and '.join(alone)}: of no use without CHECKRAIL_LLM_URL. "
                "Set it too, or leave them out."
            )
        return None
    local = _is_loopback(environment.llm_url)
    missing = [
        name
        for name, value in (
            ("CHECKRAIL_LLM_FORMAT", environment.llm_format),
            ("CHECKRAIL_LLM_MODEL", environment.llm_model),
            ("CHECKRAIL_LLM_KEY", environment.llm_key or local),
        )
        if not value
    ]
    if missing:
        raise ImproperlyConfigured(
            f"CHECKRAIL_LLM_URL needs {' and '.join(missing)} beside it."
        )
    key = environment.llm_key.get_secret_value() if environment.llm_key else None
    if key is not None and not re.fullmatch(r"[!-~]+", key):
        raise ImproperlyConfigured(
            "CHECKRAIL_LLM_KEY must be visible ASCII characters without blanks: it is "
            "sent as a header."
        )
    return {
        "url": environment.llm_url,
        "format": environment.llm_format,
        "model": environment.llm_model,
        "key": key,
        "timeout_s": environment.llm_timeout_s,
        "prices": _parse_llm_prices(environment),
    }


def _is_loopback(address: str) -> bool:
    """Whether it is this machine; refuses what is neither that nor https."""
    try:
        url = urlsplit(address)
        host, _ = url.hostname or "", url.port
    except ValueError:
        host = ""
    if not host or not re.fullmatch(r"[!-~]+", address):
        raise ImproperlyConfigured(
            "CHECKRAIL_LLM_URL is no address: give the full one that questions are "
            "posted to, such as https://llm.example/v1/chat/completions."
        )
    if "@" in url.netloc or url.fragment:
        raise ImproperlyConfigured(
            "CHECKRAIL_LLM_URL may hold neither a user nor a fragment: the key belongs "
            "in CHECKRAIL_LLM_KEY."
        )
    local = _is_this_machine(host)
    if url.scheme != "https" and not (local and url.scheme == "http"):
        raise ImproperlyConfigured(
            "CHECKRAIL_LLM_URL must begin with https://: only a model on this very "
            "machine may be asked over http."
        )
    return local


def _parse_llm_prices(environment: Environment) -> tuple[int, int] | None:
    """Millionths of a dollar for a million tokens, in and out."""
    given = (environment.llm_input_price, environment.llm_output_price)
    if given == (None, None):
        return None
    try:
        price_in, price_out = (parse_usd(price or "") for price in given)
    except ValueError as error:
        raise ImproperlyConfigured(
            "CHECKRAIL_LLM_INPUT_PRICE and CHECKRAIL_LLM_OUTPUT_PRICE go together, as "
            f"dollars for a million tokens: {error}."
        ) from None
    return price_in, price_out
