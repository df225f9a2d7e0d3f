"""GET /status: every part with its reason and since when, as JSON and as a page."""

from __future__ import annotations

import asyncio
import logging
import re
import tomllib
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from config.health import parts, watch
from config.health.parts import SILENCE_LIMIT, Part, State
from config.health.tasks import heartbeat
from config.health.versions import VERSION
from config.health.watch import Watch
from config.models import Heartbeat
from tests.config.health.test_health import Away
from tests.support.live import Live

ROOT = Path(__file__).resolve().parents[3]
ALL = {"process", "database", "worker", "beat"} | (
    set() if settings.EMBEDDED else {"redis"}
)


@pytest.fixture(autouse=True)
def everything_well(live: Live) -> Iterator[None]:
    set_age(Heartbeat.WORKER, 0)
    set_age(Heartbeat.BEAT, 0)
    yield
    set_age(Heartbeat.WORKER, 0)
    set_age(Heartbeat.BEAT, 0)


def set_age(name: str, seconds: int) -> datetime:
    at = timezone.now() - timedelta(seconds=seconds)
    Heartbeat.objects.update_or_create(name=name, defaults={"at": at})
    return at


def read(live: Live, path: str = "/status") -> dict[str, Any]:
    answer = httpx.get(live.url + path)
    assert answer.status_code == 200
    assert "no-store" in answer.headers["cache-control"]
    document: dict[str, Any] = answer.json()
    return document


def list_states(document: dict[str, Any]) -> dict[str, str]:
    return {name: part["status"] for name, part in document["parts"].items()}


@pytest.mark.parametrize("path", ["/status", "/api/v1/status"])
def test_every_part_and_what_runs_here_are_told(live: Live, path: str) -> None:
    document = read(live, path)
    assert document["status"] == "ok"
    assert list_states(document) == dict.fromkeys(ALL, "ok")
    assert {part["reason"] for part in document["parts"].values()} == {""}
    assert document["version"] == VERSION
    assert document["profile"] == ("sqlite" if settings.EMBEDDED else "postgresql")
    assert document["formats"]["entry"] == 2
    assert document["schema"]["ledger"] >= "0016"
    assert "auth" not in document["schema"]


def test_the_version_is_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION


def test_a_silent_worker_is_down_and_agents_are_served(live: Live) -> None:
    set_age(Heartbeat.WORKER, SILENCE_LIMIT - 10)
    assert read(live)["status"] == "ok"
    at = set_age(Heartbeat.WORKER, SILENCE_LIMIT + 9)
    document = read(live)
    assert document["status"] == "degraded"
    assert list_states(document) == dict.fromkeys(ALL, "ok") | {"worker": "down"}
    part = document["parts"]["worker"]
    assert re.fullmatch(
        r"no worker has taken a task for (69|7\d) seconds", part["reason"]
    )
    assert datetime.fromisoformat(part["since"]) == at
    assert httpx.get(f"{live.url}/readyz").status_code == 200


def test_of_a_worker_nothing_is_known_while_the_beat_is_silent(live: Live) -> None:
    set_age(Heartbeat.WORKER, 500)
    set_age(Heartbeat.BEAT, 500)
    document = read(live)
    assert list_states(document) == dict.fromkeys(ALL, "ok") | {
        "worker": "degraded",
        "beat": "down",
    }
    assert "the beat has sent none" in document["parts"]["worker"]["reason"]
    set_age(Heartbeat.WORKER, 0)
    assert list_states(read(live))["worker"] == "ok", "Another one may have asked it."


def test_who_has_never_been_heard_of_is_down(live: Live) -> None:
    Heartbeat.objects.filter(name__in=[Heartbeat.WORKER, Heartbeat.BEAT]).delete()
    document = read(live)
    assert document["parts"]["beat"]["reason"] == "the beat has sent nothing yet"
    assert list_states(document)["beat"] == "down"


def test_without_its_database_everything_is_told_all_the_same(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Heartbeat, "objects", Away(OperationalError("gone")))
        document = read(live)
        page = httpx.get(f"{live.url}/status", headers={"Accept": "text/html"})
    assert document["status"] == "down"
    assert list_states(document) == dict.fromkeys(ALL, "ok") | {
        "database": "down",
        "worker": "degraded",
        "beat": "degraded",
    }
    assert document["parts"]["beat"]["reason"] == "not known without the database"
    assert page.status_code == 200
    assert "Agents cannot be served" in page.text
    assert "the database does not answer" in page.text


def test_a_redis_that_is_away_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "EMBEDDED", False)
    for error in (BrokerError("gone"), ConnectionRefusedError()):
        monkeypatch.setattr(parts, "celery_app", Away(error))
        document = read(live)
        assert document["status"] == "degraded"
        assert document["parts"]["redis"]["status"] == "down"
        assert document["parts"]["redis"]["reason"] == "Redis does not answer"


def test_a_browser_gets_a_page_and_programs_json(live: Live) -> None:
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    page = httpx.get(f"{live.url}/status", headers={"Accept": browser})
    assert page.headers["content-type"].startswith("text/html")
    assert "Everything works" in page.text
    for part in ALL:
        assert f"<b>{part}</b>" in page.text
    for wanted in ("*/*", "application/json", "application/json, text/html;q=0.5"):
        answer = httpx.get(f"{live.url}/status", headers={"Accept": wanted})
        assert answer.headers["content-type"].startswith("application/json"), wanted


def test_the_beat_leaves_its_sign_before_it_hands_the_task_on(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Redis is away it is well all the same; where the database is, it goes on."""
    set_age(Heartbeat.BEAT, 900)
    set_age(Heartbeat.WORKER, 900)
    heartbeat.delay()
    ages = dict(Heartbeat.objects.values_list("name", "at"))
    assert timezone.now() - ages[Heartbeat.BEAT] < timedelta(seconds=600)
    heartbeat()
    with monkeypatch.context() as patch:
        patch.setattr(Heartbeat, "objects", Away(OperationalError("gone")))
        heartbeat.delay()


DOWN = Part(state=State.DOWN, reason="gone")


def test_since_when_is_since_it_became_so(monkeypatch: pytest.MonkeyPatch) -> None:
    now: dict[str, Part] = {}

    async def check() -> dict[str, Part]:
        return dict(now)

    monkeypatch.setattr(watch, "check_parts", check)
    watched = Watch()

    def look(part: Part) -> datetime:
        now["redis"] = part
        return asyncio.run(watched.look())["redis"][1]

    first = look(parts.OK)
    assert look(parts.OK) == first
    second = look(DOWN)
    assert second > first
    assert look(Part(state=State.DOWN, reason="still gone")) == second
    known = timezone.now() - timedelta(days=1)
    assert look(Part(state=State.DOWN, reason="gone", since=known)) == known
    assert look(parts.OK) > second


def test_what_lasts_is_logged_once_and_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    story = [DOWN, parts.OK, DOWN, DOWN, DOWN, parts.OK, parts.OK, parts.OK]

    async def check() -> dict[str, Part]:
        if len(story) == 4:
            story.pop(0)
            raise ValueError("a fault of the look itself")
        return {"beat": story.pop(0)}

    async def scene() -> None:
        task = asyncio.create_task(Watch().run_forever())
        async with asyncio.timeout(60):
            while story:
                await asyncio.sleep(0.001)
        task.cancel()

    monkeypatch.setattr(watch, "check_parts", check)
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.001)
    caplog.set_level(logging.WARNING)
    asyncio.run(scene())
    told = [each.getMessage() for each in caplog.records if each.name == watch.__name__]
    assert told == [
        "The beat is down: gone",
        "The parts could not be looked at, trying again",
        "The beat is ok again",
    ]
