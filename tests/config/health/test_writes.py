"""/readyz knows when writes fail, by the writer's last outcome, and heals by itself."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.db import IntegrityError, OperationalError, connection
from django.utils import timezone

from config.health import notice
from config.health import probe as probing
from config.health.probe import Probe, get_probe
from config.models import Heartbeat
from ledger.writer import get_writer
from ledger.writer.batch import Committer
from tests.conftest import client_for
from tests.support.builders import Robot, start_run
from tests.support.live import Live
from tests.support.processes import DATABASE, manage, up
from tests.support.waiting import until

RUN = {"task": "Write something"}


def ready(live: Live) -> tuple[int, str]:
    answer = httpx.get(f"{live.url}/readyz")
    return answer.status_code, answer.json()["checks"]["database"]


@pytest.fixture(autouse=True)
def worker(live: Live, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    at = {"at": timezone.now()}
    Heartbeat.objects.update_or_create(name=Heartbeat.WORKER, defaults=at)
    monkeypatch.setattr(probing, "SECONDS_BETWEEN", 0.0)
    assert ready(live) == (200, "ok")
    yield
    get_writer().recover()


class FullDisk:
    """Every write fails as it does on a full disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch = monkeypatch
        self._one, self._write = Committer.commit_one, probing._write
        monkeypatch.setattr(Committer, "commit_one", self._fail)
        monkeypatch.setattr(probing, "_write", self._fail)

    def _fail(self, *_given: object) -> None:
        raise OperationalError("database or disk is full")

    def empty(self) -> None:
        self._patch.setattr(Committer, "commit_one", self._one)
        self._patch.setattr(probing, "_write", self._write)


def test_failing_writes_are_told_until_a_probe_succeeds(
    live: Live, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    assert agent.post("/runs", json=RUN).status_code == 503

    for _ in range(2):
        assert ready(live) == (503, "the database takes no writes")

    disk.empty()
    assert ready(live) == (200, "ok")
    assert Heartbeat.objects.get(name=Heartbeat.PROBE).ballast == ""


def test_a_write_that_succeeds_heals_without_a_probe(
    live: Live, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    assert agent.post("/runs", json=RUN).status_code == 503
    disk.empty()
    monkeypatch.setattr(Probe, "succeeds", lambda _probe: False)
    assert ready(live)[0] == 503

    start_run(agent)

    assert ready(live) == (200, "ok")


def test_a_refusal_and_a_taken_key_are_no_failure(
    live: Live, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert agent.post("/runs/nonsense/finish", json={}).status_code >= 400

    def taken(*_given: object) -> None:
        raise IntegrityError("taken")

    monkeypatch.setattr(Committer, "commit_one", taken)
    assert agent.post("/runs", json=RUN).status_code == 503
    assert ready(live) == (200, "ok")


def as_another_process(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(notice, "get_process_name", lambda: "another")
    return monkeypatch


def test_a_process_that_writes_nothing_hears_of_the_others_failures(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    assert ready(live) == (200, "ok"), "It has seen no failure of its own."
    with monkeypatch.context() as other:
        as_another_process(other)
        notice.leave_notice()

    assert ready(live) == (503, "the database takes no writes")

    disk.empty()
    assert ready(live) == (200, "ok")
    assert not notice.find_notice(), "The next look writes nothing."


def test_a_process_that_fails_leaves_a_notice_for_the_others(
    live: Live, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    assert agent.post("/runs", json=RUN).status_code == 503
    assert ready(live)[0] == 503
    assert not notice.find_notice(), "Its own notice tells it nothing."
    with monkeypatch.context() as other:
        as_another_process(other)
        assert notice.find_notice()
    disk.empty()
    assert ready(live) == (200, "ok")


def test_a_write_that_never_ends_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(get_writer(), "_began", time.monotonic() - 30)

    status, reason = ready(live)

    assert status == 503
    assert "under way for 3" in reason


def test_a_probe_that_failed_is_not_tried_at_every_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probing, "SECONDS_BETWEEN", 60.0)
    disk, tried = FullDisk(monkeypatch), Probe()
    assert not tried.succeeds()
    disk.empty()

    assert not tried.succeeds()
    assert Probe().succeeds()
    assert get_probe() is get_probe()


def test_a_disk_that_is_full_and_has_room_again(tmp_path: Path) -> None:
    """For real: the server may not make its files any longer."""
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL's files are not the server's.")
    with up(tmp_path) as process:
        made = manage(
            "agent_key", "robo", "--project", "main", CHECKRAIL_DATA=str(tmp_path)
        )
        key = next(word for word in made.stdout.split() if word.startswith("crk_"))
        with client_for(process.live, Robot(name="robo", key=key)) as agent:
            start_run(agent)
            pid = process.pid
            database = tmp_path / DATABASE
            log = database.with_name(f"{DATABASE}-wal")
            limit = max(database.stat().st_size, log.stat().st_size)
            _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, hard))
            task = {"task": "x" * 2000}
            until(lambda: agent.post("/runs", json=task).status_code == 503)
            assert ready(process.live) == (503, "the database takes no writes")

            resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))

            until(lambda: ready(process.live)[1] == "ok")
            start_run(agent)
