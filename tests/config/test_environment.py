"""What the environment says becomes the settings: whole, within limits, nothing forgotten."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ImproperlyConfigured, ValidationError

from accounts.models import User
from config.environment import (
    Environment,
    build_database_settings,
    get_secret_key,
    read_environment,
)
from tests.support.rows import each_row

pytestmark = pytest.mark.once("reads variables, not a database")


def read(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Environment:
    for field in Environment.model_fields.values():
        monkeypatch.delenv(str(field.validation_alias), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return read_environment()


def build(monkeypatch: pytest.MonkeyPatch, url: str) -> dict[str, Any]:
    read_one = read(monkeypatch, DATABASE_URL=url, CHECKRAIL_POOL_SIZE="7")
    return build_database_settings(read_one)


OPTIONS = {
    "connect_timeout": 3,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "options": "-c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000",
    "prepare_threshold": 5,
    "pool": {"min_size": 1, "max_size": 7, "timeout": 5, "reconnect_timeout": 4},
}


def test_every_part_of_a_database_url_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "postgresql://us%40er:pa%2Fss@db.example:6543/na%20me?sslmode=verify-full"
    assert build(monkeypatch, url) == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "na me",
        "USER": "us@er",
        "PASSWORD": "pa/ss",
        "HOST": "db.example",
        "PORT": "6543",
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {**OPTIONS, "sslmode": "verify-full"},
    }


def test_a_database_url_may_name_a_socket_or_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    socket = build(monkeypatch, "postgres:///name?host=/var/run/pg&port=5433")
    assert (socket["HOST"], socket["PORT"]) == ("/var/run/pg", "5433")
    assert socket["OPTIONS"] == OPTIONS
    bare = build(monkeypatch, "postgres:///name")
    given = {name: bare[name] for name in ("HOST", "PORT", "USER", "PASSWORD")}
    assert set(given.values()) == {""}
    # An operator knows better what the server is told at the start of a connection.
    own = build(monkeypatch, "postgres:///n?options=-c%20x%3D1&connect_timeout=9")
    assert own["OPTIONS"]["options"] == "-c x=1"
    assert own["OPTIONS"]["connect_timeout"] == "9"
    assert own["OPTIONS"]["pool"] == OPTIONS["pool"]


def test_sqlite_waits_its_turn_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = build_database_settings(read(monkeypatch, CHECKRAIL_DATA="some/where"))
    path = Path("some/where/checkrail.sqlite3").absolute()
    assert made["NAME"] == path
    options = made["OPTIONS"]
    assert (options["transaction_mode"], options["timeout"]) == ("IMMEDIATE", 5)
    said = set(filter(None, options["init_command"].split(";")))
    assert said == {
        "PRAGMA journal_mode=WAL",
        "PRAGMA synchronous=FULL",
        "PRAGMA wal_autocheckpoint=1000",
        "PRAGMA temp_store=MEMORY",
        "PRAGMA foreign_keys=ON",
    }


@each_row(
    ("name", "least", "most"),
    [
        ("CHECKRAIL_PORT", 0, 65_535),
        ("CHECKRAIL_KEY_RATE", 0, 1_000_000),
        ("CHECKRAIL_HEAD_TIMEOUT_S", 1, 300),
        ("CHECKRAIL_BODY_TIMEOUT_S", 1, 600),
        ("CHECKRAIL_CONNECTIONS", 16, 1_000_000),
        ("CHECKRAIL_ADDRESS_CONNECTIONS", 8, 1_000_000),
        ("CHECKRAIL_STREAMS_PER_KEY", 1, 100_000),
        ("CHECKRAIL_STREAMS_PER_RUN", 1, 100_000),
        ("CHECKRAIL_POOL_SIZE", 2, 200),
        ("CHECKRAIL_LLM_TIMEOUT_S", 1, 300),
    ],
)
def test_numbers_have_a_least_and_a_most(name: str, least: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for good in (least, most):
            read(patch, **{name: str(good)})
        for wrong in (least - 1, most + 1):
            with pytest.raises(ImproperlyConfigured, match=name):
                read(patch, **{name: str(wrong)})


def test_lists_are_split_on_commas_and_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    said = read(
        monkeypatch,
        CHECKRAIL_HOSTS=" a.example ,, b.example,",
        CHECKRAIL_ORIGINS="https://a.example, https://b.example",
    )
    assert said.hosts == ("a.example", "b.example")
    assert said.origins == ("https://a.example", "https://b.example")
    assert said.embedded
    assert not read(monkeypatch, DATABASE_URL="postgres:///x").embedded


def test_every_wrong_variable_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"CHECKRAIL_PORT.*; CHECKRAIL_LOG"):
        read(monkeypatch, CHECKRAIL_PORT="-1", CHECKRAIL_LOG_LEVEL="INFOS")


def test_a_secret_key_is_made_once_and_for_this_user_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alone = read(monkeypatch, CHECKRAIL_DATA=str(tmp_path))
    made = get_secret_key(alone)
    assert len(made) >= 50
    assert get_secret_key(alone) == made
    path = tmp_path / "secret_key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("of a person\n")
    assert get_secret_key(alone) == "of a person"
    given = read(monkeypatch, CHECKRAIL_DATA=str(tmp_path), SECRET_KEY="given")
    assert get_secret_key(given) == "given"


@each_row(
    "password",
    ["elevenchars", "password1234", "123456789012345", "bernadette-smith"],
)
def test_a_password_that_is_easily_guessed_is_refused(password: str) -> None:
    person = User(username="bernadette-smith")
    with pytest.raises(ValidationError):
        validate_password(password, person)
    validate_password("twelve-signs", person)


def test_what_strangers_cause_pushes_out_nothing_that_was_counted() -> None:
    """Each attempt to sign in is an entry: the least used would be dropped at the limit."""
    for name in ("default", "local"):
        if "locmem" in settings.CACHES[name]["BACKEND"]:
            assert settings.CACHES[name]["OPTIONS"]["MAX_ENTRIES"] == 50_000


def test_the_machine_itself_is_served_by_its_names() -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert not settings.EMBEDDED or host in settings.ALLOWED_HOSTS
    assert settings.PUBLIC_URL
    assert settings.DEBUG is False
    assert settings.TIME_ZONE == "UTC"
