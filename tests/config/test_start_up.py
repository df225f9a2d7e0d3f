"""Unsafe settings: the server does not start, and says in a sentence what to mend."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections
from django.test.utils import override_settings

from common.commands import SETTINGS
from config import checks
from config.environment import build_database_settings, get_secret_key, read_environment
from tests.support.processes import database_url, environment, manage
from tests.support.rows import each_row
from tests.support.threads import at_once

MEMORY = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
REDIS = {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer"}}
DISTINCT = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ"
GOOD: dict[str, Any] = {
    "EMBEDDED": False,
    "DEBUG": False,
    "SECRET_KEY": DISTINCT,
    "ALLOWED_HOSTS": ["checkrail.example"],
    "ORIGINS": ["https://checkrail.example"],
    "CHANNEL_LAYERS": REDIS,
}


@each_row(
    ("wrong", "sentence"),
    [
        ({"DEBUG": True}, "DEBUG is on"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is weak"),
        ({"SECRET_KEY": "ab" * 40}, "SECRET_KEY is weak"),
        ({"SECRET_KEY": "django-insecure-" + "abcdefgh" * 9}, "Django's example"),
        ({"ALLOWED_HOSTS": ["*"]}, "must name hosts"),
        ({"ORIGINS": ["https://*.example"]}, "must name hosts"),
        ({"SECRET_KEY": DISTINCT[:49]}, "SECRET_KEY is weak"),
        ({"SECRET_KEY": "abcd" * 20}, "SECRET_KEY is weak"),
        ({"ALLOWED_HOSTS": ["a.example", "*"]}, "must name hosts"),
        ({"ORIGINS": ["checkrail.example"]}, "takes full origins"),
        ({"ORIGINS": ["https://checkrail.example/"]}, "takes full origins"),
        ({"ORIGINS": ["https://a.example", "ftp://b.example"]}, "takes full origins"),
        ({"ORIGINS": ["https://"]}, "takes full origins"),
        ({"ALLOWED_HOSTS": []}, "CHECKRAIL_HOSTS is missing"),
        ({"ORIGINS": []}, "CHECKRAIL_ORIGINS is missing"),
        ({"CHANNEL_LAYERS": MEMORY}, "REDIS_URL is missing"),
    ],
)
def test_each_unsafe_setting_has_its_sentence(
    wrong: dict[str, Any], sentence: str
) -> None:
    with override_settings(**GOOD):
        assert list(checks.find_setting_faults()) == []
    with override_settings(**GOOD | wrong):
        faults = run_checks(tags=[SETTINGS])

    assert len(faults) == 1
    assert sentence in faults[0].msg


@each_row(
    "fine",
    [
        {"SECRET_KEY": DISTINCT[:50]},
        {"SECRET_KEY": "abcde" * 10},
        {"ORIGINS": ["http://127.0.0.1:8000", "https://[::1]:8443"]},
    ],
)
def test_what_is_just_safe_enough_is_taken(fine: dict[str, Any]) -> None:
    with override_settings(**GOOD | fine):
        assert list(checks.find_setting_faults()) == []


def test_all_that_is_to_be_mended_is_said_at_once(database: None) -> None:
    wrong = {"DEBUG": True, "SECRET_KEY": "short"}
    with (
        override_settings(**GOOD | wrong),
        pytest.raises(
            ImproperlyConfigured, match=r"DEBUG is on.*\n- SECRET_KEY is weak"
        ),
    ):
        checks.refuse_unsafe()


def test_one_process_needs_neither_redis_nor_names() -> None:
    alone = {"EMBEDDED": True, "CHANNEL_LAYERS": MEMORY, "ORIGINS": []}
    with override_settings(**GOOD | alone):
        assert list(checks.find_setting_faults()) == []


UNSAFE = {
    "postgresql": {
        "SHOW fsync": ("off", "fsync off"),
        "SHOW synchronous_commit": ("off", "synchronous_commit off"),
        "SHOW full_page_writes": ("off", "full_page_writes off"),
    },
    "sqlite": {
        "PRAGMA journal_mode": ("delete", "WAL"),
        "PRAGMA synchronous": ("1", "synchronous=FULL"),
    },
}


def test_a_database_that_may_lose_answers_is_refused(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(checks.find_database_faults()) == []
    shown = checks._read_value
    for statement, (value, words) in UNSAFE[connection.vendor].items():

        def unsafe(asked: str, *, s: str = statement, v: str = value) -> str:
            return v if asked == s else shown(asked)

        monkeypatch.setattr(checks, "_read_value", unsafe)
        with pytest.raises(ImproperlyConfigured, match=words):
            checks.refuse_unsafe()


def test_sqlite_without_immediate_transactions_is_refused(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("A matter of SQLite.")
    connection.ensure_connection()  # which sets the mode
    monkeypatch.setattr(connections["default"], "transaction_mode", "DEFERRED")

    assert "IMMEDIATE" in "".join(fault.msg for fault in checks.find_database_faults())


Ended = subprocess.CompletedProcess[str]


def web(**variables: str) -> Ended:
    return subprocess.run(
        [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", "0"],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"DATABASE_URL": "mysql://x/y"}, "DATABASE_URL must begin with postgresql://"),
        ({"DATABASE_URL": NOWHERE}, "SECRET_KEY is required with DATABASE_URL"),
        ({"CHECKRAIL_PORT": "many"}, "CHECKRAIL_PORT"),
        ({"CHECKRAIL_PORT": "65536"}, "CHECKRAIL_PORT"),
        ({"CHECKRAIL_POOL_SIZE": "1"}, "CHECKRAIL_POOL_SIZE"),
        ({"CHECKRAIL_KEY_RATE": "-1"}, "CHECKRAIL_KEY_RATE"),
        ({"CHECKRAIL_FAST_PATH": "perhaps"}, "CHECKRAIL_FAST_PATH"),
        ({"CHECKRAIL_LOG_LEVEL": "loud"}, "CHECKRAIL_LOG_LEVEL"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(
    variables: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    def start() -> None:
        read = read_environment()
        build_database_settings(read)
        get_secret_key(read)

    with pytest.raises(ImproperlyConfigured, match=sentence):
        start()


def test_up_is_for_this_machine_and_for_sqlite_unless_told_more(
    database: None,
) -> None:
    sqlite = connection.vendor == "sqlite"
    words = "by which names people reach it" if sqlite else "one process on SQLite"

    with pytest.raises(CommandError, match=words):
        call_command("up", host="192.0.2.1")


def test_a_process_that_is_set_up_wrongly_ends_with_a_sentence(
    database: None, tmp_path: Path
) -> None:
    cases: dict[str, Callable[[], Ended]] = {
        "SECRET_KEY is required with DATABASE_URL": lambda: manage(
            "check", DATABASE_URL=NOWHERE
        )
    }
    if connection.vendor == "postgresql":
        cases["REDIS_URL is missing"] = lambda: web(
            DATABASE_URL=database_url(),
            SECRET_KEY=os.environ["SECRET_KEY"],
            CHECKRAIL_HOSTS="127.0.0.1",
            CHECKRAIL_ORIGINS="http://127.0.0.1",
        )
    else:
        cases["SECRET_KEY is weak"] = lambda: web(
            SECRET_KEY="weak", CHECKRAIL_DATA=str(tmp_path)
        )

    for sentence, ended in zip(cases, at_once(*cases.values()), strict=True):
        assert ended.returncode != 0, sentence
        assert sentence in ended.stderr + ended.stdout
