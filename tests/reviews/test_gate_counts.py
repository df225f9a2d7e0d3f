"""A gate is held against what its checks say about it, and nothing more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from common.ids import uuid7
from guidance.core.checks import CheckState, Event
from guidance.services import get_policy_in_force
from ledger.models import Run
from reviews.models import GateCheck
from reviews.queue import gate_counts
from reviews.queue.gate_counts import Count, Totals, _sum_totals, count_gates
from tests.gateway.checks.saying import open_check
from tests.support.builders import make_policy, make_project, start_run

PASSED = Event(what="passed", said="")
ALL = Event(what="failed", said="no")
FIRST = Event(what="failed", said="no", failed_gates=(1,))
SECOND = Event(what="failed", said="no", failed_gates=(2, 3))
RESET = Event(what="reset", said="again")


def build_state(status: str, *history: Event, resets: int = 0) -> CheckState:
    return CheckState(
        mode="blocking", max_attempts=3, status=status, resets=resets, history=history
    )


@pytest.mark.parametrize(
    ("state", "counted"),
    [
        (build_state("open"), {}),
        (build_state("open", ALL), {"failed": 1}),
        (build_state("open", SECOND), {}),
        (build_state("passed", PASSED), {"passed": 1, "verdicts": 1}),
        (
            build_state("passed", FIRST, RESET, PASSED, resets=1),
            {"failed": 1, "passed": 1, "exhausted": 1, "verdicts": 2},
        ),
        (
            build_state("passed", FIRST, SECOND, PASSED),
            {"failed": 1, "passed": 1, "verdicts": 3},
        ),
        (
            build_state("exhausted", SECOND, FIRST),
            {"failed": 1, "exhausted": 1, "unpassed": 1, "verdicts": 2},
        ),
        (build_state("exhausted", FIRST, SECOND), {"failed": 1}),
        (
            build_state("skipped", ALL),
            {
                "failed": 1,
                "exhausted": 1,
                "skipped": 1,
                "unpassed": 1,
                "verdicts": 1,
            },
        ),
        (build_state("skipped", SECOND), {}),
        (
            build_state("aborted", FIRST),
            {"failed": 1, "exhausted": 1, "unpassed": 1, "verdicts": 1},
        ),
        (build_state("warned", FIRST), {"failed": 1, "unpassed": 1, "verdicts": 1}),
    ],
)
def test_one_check_counts_for_its_first_gate(
    state: CheckState, counted: dict[str, int]
) -> None:
    count = Count(bars=[[0, 0], [0, 0]])
    count.add(state, 1, bar=1)

    names = ("passed", "unpassed", "failed", "exhausted", "skipped", "verdicts")
    assert {name: getattr(count, name) for name in names if getattr(count, name)} == (
        counted
    )
    assert count.checked == 1
    ended = [counted.get("passed", 0), counted.get("unpassed", 0)]
    assert count.bars == [[0, 0], ended]
    assert count.ended == sum(ended)


def test_each_check_is_summed_once() -> None:
    states = [
        build_state("passed", PASSED),
        build_state("passed", ALL, PASSED),
        build_state("passed", ALL, RESET, PASSED, resets=1),
        build_state("open", ALL),
        *(build_state(status, ALL) for status in ("exhausted", "skipped", "aborted")),
        *(build_state(status, ALL) for status in ("warned", "logged")),
    ]
    assert _sum_totals(states) == Totals(
        checks=9, passed=3, first=1, asked=4, skipped=1, warned=2
    )
    assert _sum_totals([]) == Totals()


def build_gate(name: str, severity: str) -> dict[str, Any]:
    return {"name": name, "severity": severity, "criteria": ["It holds"]}


def test_checks_of_the_project_and_the_days_are_counted(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates = {"mild": build_gate("Mild", "low"), "hard": build_gate("Hard", "critical")}
    make_policy("default", project=project, gates=gates)
    run = start_run(agent)
    for names in (("mild",), ("hard", "mild"), ("hard",)):
        open_check(agent, run, *names)
    row = Run.objects.get(code=run)
    now = timezone.now()
    rows = list(GateCheck.objects.filter(run=row).order_by("pk"))
    ages = (timedelta(days=8), timedelta(days=7), timedelta(0))
    for each, age in zip(rows, ages, strict=True):
        GateCheck.objects.filter(pk=each.pk).update(opened_at=now - age)
    foreign = GateCheck.objects.get(pk=rows[2].pk)
    foreign.pk, foreign.code = None, uuid7()
    foreign.project, foreign.opened_at = make_project(), now
    foreign.save(force_insert=True)
    policy = get_policy_in_force(project_id=project.pk, name="default")

    def count(days: int = 7) -> Any:
        return count_gates(project_id=project.pk, policy=policy, days=days, at=now)

    found = count()
    assert [each.gate.slug for each in found.policy] == ["hard", "mild"]
    assert [each.count.checked for each in found.policy] == [2, 1]
    assert (found.totals.checks, found.others, found.counted_all) == (2, (), True)
    assert count(9).totals.checks == 3
    assert len(found.policy[0].count.bars) == 7
    assert len(count(90).policy[0].count.bars) == gate_counts.BARS

    monkeypatch.setattr(gate_counts, "CHECKS_LIMIT", 2)
    assert not count(9).counted_all
    assert count(9).totals.checks == 2
    monkeypatch.setattr(gate_counts, "CHECKS_LIMIT", 3)
    assert count(9).counted_all
    foreign.delete()
