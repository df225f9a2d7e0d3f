"""Workers of the loop: one at a time, hinted at again where something is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError

from accounts.models import Project
from config.celery import app
from loop import tasks
from loop.control import worker_hint
from loop.cycle import pipeline
from loop.cycle.pipeline import decide_pending, filter_waiting
from loop.models import Decision, Signal
from tests.loop.saying import loop_policy
from tests.support.builders import make_project

Sending = Callable[..., str]


@pytest.fixture
def hinted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(tasks, "send_hint", found.append)
    return found


def test_a_hint_during_a_cycle_is_kept_for_the_end_of_it(
    project: Project, hinted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_project()
    monkeypatch.setattr(tasks, "has_ledger", lambda _pk: True)

    def cycle(project_id: int) -> tuple[int, bool]:
        if project_id == project.pk:
            assert tasks.decide(project.pk) == 0  # a thread is at it already
            assert tasks.decide(other.pk) == 5  # another project need not wait
            return 3, True
        return 5, True

    monkeypatch.setattr(tasks, "run_cycle", cycle)
    assert tasks.decide(project.pk) == 3
    assert hinted == [project.pk]
    monkeypatch.setattr(tasks, "run_cycle", lambda _pk: (1, True))
    assert tasks.decide(project.pk) == 1
    assert hinted == [project.pk], "What was hinted at is done."


def test_what_is_left_is_hinted_at_and_a_failure_keeps_nobody_out(
    project: Project, hinted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "has_ledger", lambda _pk: True)
    monkeypatch.setattr(tasks, "run_cycle", lambda _pk: (9, False))
    assert tasks.decide(project.pk) == 9
    assert hinted == [project.pk]

    def fail(_pk: int) -> tuple[int, bool]:
        raise LookupError

    monkeypatch.setattr(tasks, "run_cycle", fail)
    for _ in range(2):  # the second is not taken for one beside the first
        with pytest.raises(LookupError):
            tasks.decide(project.pk)
    assert hinted == [project.pk]
    assert not tasks._running
    assert not tasks._once_more


def test_a_project_without_a_ledger_is_left_alone(
    project: Project, hinted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(_pk: int) -> tuple[int, bool]:
        raise AssertionError

    monkeypatch.setattr(tasks, "run_cycle", never)
    assert tasks.decide(make_project().pk) == 0
    assert hinted == []


def test_a_hint_that_cannot_be_sent_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[tuple[object, ...]] = []
    trouble = {1: OperationalError("no broker"), 2: ConnectionRefusedError()}

    def send_task(name: str, args: tuple[int], **options: object) -> None:
        if args[0] in trouble:
            raise trouble[args[0]]
        sent.append((name, args, options))

    monkeypatch.setattr(app, "send_task", send_task)
    worker_hint._send_tasks([1, 2, 3])
    # It is only a hint: nobody waits for a broker, and an old one is dropped.
    assert sent == [("loop.decide", (3,), {"expires": 60, "retry": False})]
    assert caplog.text.count("could not be sent") == 2


def test_triggers_are_decided_in_turn_so_many_at_a_time(
    project: Project, robo_signal: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop_policy(project, caps_per_hour={"start_loop": 99})
    codes = [robo_signal() for _ in range(5)]
    monkeypatch.setattr(pipeline, "AT_ONCE", 2)
    batches: list[int] = []
    real = pipeline.decide_signals

    def count(signals: list[Signal], *given: object, **named: object) -> int:
        batches.append(len(signals))
        return real(signals, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "decide_signals", count)
    assert decide_pending(project.pk, seconds=-1) == (0, False)
    assert decide_pending(project.pk) == (5, True)
    assert batches == [2, 2, 1]
    rows = Decision.objects.filter(project=project).order_by("pk")
    assert [str(row.code) for row in rows] == codes
    assert decide_pending(project.pk) == (0, True)


def test_a_trigger_waits_unless_it_is_decided_leased_or_elsewhere(
    project: Project, robo_signal: Sending
) -> None:
    for _ in range(4):
        robo_signal()
    free, leased, over, done = Signal.objects.filter(project=project).order_by("pk")
    now = timezone.now()
    for row, values in (
        (leased, {"leased_until": now + timedelta(minutes=1)}),
        (over, {"leased_until": now - timedelta(seconds=1)}),
        (done, {"pending": False}),
    ):
        Signal.objects.filter(pk=row.pk).update(**values)
    assert set(filter_waiting(project.pk)) == {free, over}
    assert not filter_waiting(make_project().pk).exists()
    assert pipeline._lease(free)
    assert not pipeline._lease(leased)
    free.refresh_from_db()
    assert free.leased_until is not None
    assert free.leased_until >= now + timedelta(seconds=pipeline.LEASE_MARGIN_S)
    assert json.loads(free.data) == {"about": 1}
