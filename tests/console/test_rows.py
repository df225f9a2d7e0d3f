"""What rows and small parts of pages say, case by case."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from django.http import QueryDict

from accounts.models import User
from common.errors import Invalid
from console.people import Person
from console.queue.address import read_state
from console.queue.agent_reviews import AgentReviews, _describe_closed
from console.queue.folds.groups import QueueList
from console.queue.outcome import build_outcome
from console.queue.rows import build_rows
from console.runs.forms import ReopenForm
from console.runs.list.rows import build_run_row
from console.runs.list.why import describe_why
from console.runs.page import _list_notices
from console.runs.rows import list_amounts
from ledger.models import Run, RunOutcome
from ledger.trees.relatives import Relatives
from reviews.models import Review, Ruling
from reviews.queue.tally import Tally

pytestmark = pytest.mark.once("uses no database")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CODE = UUID("0190b5a2-0000-7000-8000-00000000abcd")


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


# Runs


def build_run(status: str = "running", **more: Any) -> Run:
    facts = {
        "code": CODE,
        "pk": 7,
        "status": status,
        "status_reason": "",
        "open_reviews": "[]",
        "last_decision": "continue",
        "task": "T",
        "labels": {},
        "created_at": ago(minutes=9),
        "updated_at": ago(minutes=2),
        **more,
    }
    run = Run(**facts)
    run.agent = SimpleNamespace(name="robo")  # type: ignore[assignment]
    Run.outcome.related.set_cached_value(run, None)
    return run


@pytest.fixture(autouse=True)
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row needs no agent of the database for what is said of it."""
    monkeypatch.setattr(Run, "agent", None)


def test_a_run_is_slow_only_while_it_runs() -> None:
    looks = {
        "running": ("go", "play", "running", "running"),
        "paused": ("pause", "pause", "paused", "paused"),
        "stopped": ("stop", "stop", "stopped", "stopped"),
        "completed": ("mute", "check", "completed", "completed"),
        "failed": ("stop", "x", "failed", "failed"),
        "aborted": ("stop", "x", "aborted", "aborted"),
        "abandoned": ("mute", "clock", "abandoned", "abandoned"),
    }
    for decision in ("continue", "throttle"):
        for status, look in looks.items():
            run = build_run(status, last_decision=decision)
            row = build_run_row(run, Relatives(), slug="p", at=NOW, seq=3)
            if (status, decision) == ("running", "throttle"):
                look = ("slow", "slow", "throttled", "running")
            assert (row.tone, row.icon, row.word, row.status) == look
            assert (row.short, row.seq) == ("r-00abcd", 3)
            notices = list(
                _list_notices(
                    build_run(status, last_decision=decision, status_reason="Why"),
                    slug="p",
                )
            )
            assert [(n.tone, n.icon, n.text) for n in notices] == [
                (look[0], look[1], "Why")
            ]


def judge(run: Run, *, accepted: bool, failed: dict[str, str]) -> Run:
    evaluations = [
        {"name": name, "passed": False, "message": words}
        for name, words in failed.items()
    ]
    text = json.dumps([{"name": "a", "passed": True, "message": "fine"}, *evaluations])
    run.outcome = RunOutcome(run=run, accepted=accepted, evaluations=text)
    return run


def test_a_row_says_why_the_run_ended() -> None:
    failed = judge(
        build_run("failed", status_reason="tests-pass failed"),
        accepted=False,
        failed={"tests-pass": "3 of 212 failed.", "diff-quality": "41 % rework"},
    )
    assert describe_why(failed) == ("tests-pass: 3 of 212 failed, and 1 more", False)
    stopped = build_run("stopped", status_reason="Cost used up\u202e")
    assert describe_why(stopped).text.startswith("Cost used up")
    assert "\u202e" not in describe_why(stopped).text
    done = judge(build_run("completed"), accepted=True, failed={})
    assert describe_why(done) == ("accepted", True)
    assert describe_why(build_run("completed")) == ("", True)
    assert describe_why(build_run("running")) == ("nothing open", True)


def test_a_run_that_waits_says_for_whom_and_nothing_twice() -> None:
    run = build_run(
        "paused", status_reason="Why", open_reviews=f'[["{CODE}", "pause"]]'
    )
    (notice,) = _list_notices(run, slug="p")
    assert (notice.head, notice.text) == ("Waiting for a person.", "Why")
    assert str(CODE) in notice.url
    assert list(_list_notices(build_run(), slug="p")) == []


def test_an_amount_is_never_written_as_its_limit_while_it_is_less() -> None:
    def amount(used: int, limit: int | None) -> Any:
        return list_amounts(build_run(tokens_used=used, tokens_limit=limit))[0]

    near = amount(199_999, 200_000)
    assert (near.used, near.limit, near.spent) == ("199,999", "200k", False)
    full = amount(200_000, 200_000)
    assert (full.used, full.share, full.spent) == ("200k", 1.0, True)
    free = amount(5, None)
    assert (free.used, free.limit, free.share) == ("5", "", None)
    assert (free.percent, free.spent) == ("", False)
    assert amount(0, 0).spent, "a limit of none is used up"


def reopen(**fields: str) -> ReopenForm:
    form = ReopenForm({"reason": "r", **fields})
    assert form.is_valid(), form.errors
    return form


def test_more_budget_is_added_to_what_there_was() -> None:
    limits: dict[str, Any] = {
        "tokens_limit": 100,
        "tool_calls_limit": 10,
        "time_ms_limit": 60_000,
        "cost_micros_limit": 1_500_000,
    }
    form = reopen(tokens="5", tool_calls="6", minutes="7", cost="0.25")
    budget = form.build_budget(build_run(**limits))
    assert (budget.tokens, budget.tool_calls) == (105, 16)
    assert budget.time_ms == 60_000 + 7 * 60_000
    assert Decimal(str(budget.cost_usd)) == Decimal("1.75")
    assert reopen().build_budget(build_run(**limits)).model_fields_set == set()
    none: dict[str, Any] = dict.fromkeys(limits)
    unlimited = build_run(**none)
    assert form.build_budget(unlimited).model_fields_set == set()
    with pytest.raises(Invalid, match="more budget than a run can have"):
        form.build_budget(build_run(**{**limits, "tokens_limit": 2**53 - 1}))
    for wrong in ({"tokens": "0"}, {"cost": "0"}, {"minutes": "-1"}, {"cost": "0.001"}):
        assert not ReopenForm({"reason": "r", **wrong}).is_valid()


# Reviews


def build_review(**more: Any) -> Review:
    facts = {
        "code": CODE,
        "kind": "question",
        "state": "open",
        "title": "T",
        "content": '{"kind": "question", "title": "T", "options": []}',
        "opened_at": ago(minutes=5),
        "answer_by": ago(minutes=5) + timedelta(minutes=30),
        "due_at": ago(minutes=5) + timedelta(hours=1),
        "on_expiry": "abort",
        **more,
    }
    return Review(**facts)


def test_a_wait_is_urgent_by_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.queue.rows.get_step_figures", lambda **_: {})
    run = SimpleNamespace(code=CODE, task="T", agent=SimpleNamespace(name="robo"))
    monkeypatch.setattr(Review, "run", run)
    monkeypatch.setattr(Review, "assignee", None)

    def look(waited: float, limit: float) -> tuple[str, str]:
        opened = ago(minutes=waited)
        answer_by = opened + timedelta(minutes=limit)
        review = build_review(opened_at=opened, answer_by=answer_by)
        (row,) = build_rows([review], slug="p", at=NOW, seq=1)
        return row.nearness, row.left

    # The last quarter of its time, however long that is.
    for waited, limit, nearness, left in (
        (44.9, 60, "", "15 m left"),
        (45, 60, "soon", "15 m left"),
        (59.5, 60, "soon", "30 s left"),
        (60, 60, "late", "0 s late"),
        (194, 60, "late", "2 h 14 m late"),
        (7, 10, "", "3 m left"),
        (600, 28 * 60, "", "18 h left"),
    ):
        assert look(waited, limit) == (nearness, left), (waited, limit)


def test_how_a_review_ended_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = User(pk=1, username="alice")
    bob = User(pk=2, username="bob")
    monkeypatch.setattr(Review, "assignee", None)

    def outcome(**more: Any) -> Any:
        return build_outcome(
            build_review(closed_at=ago(minutes=1), **more), viewer=alice, at=NOW
        )

    assert build_outcome(build_review(), viewer=alice, at=NOW) is None
    expired = [outcome(state="expired", on_expiry=w) for w in ("abort", "stop", "deny")]
    assert [each.sentence.partition("; ")[2] for each in expired] == [
        "the run was aborted",
        "the run was stopped",
        "it was denied",
    ]
    assert outcome(state="withdrawn").sentence == "The agent withdrew this"
    assert outcome(state="superseded").word == "Closed"

    def ruled(by: User, claimer: User | None, **said: Any) -> Any:
        ruling = Ruling(action="answer", by=by, **{"note": "", **said})
        monkeypatch.setattr(Review, "ruling", ruling, raising=False)
        monkeypatch.setattr(Review, "assignee", claimer)
        more = {"assignee_id": claimer.pk} if claimer else {}
        return outcome(state="ruled", **more)

    mine = ruled(alice, alice, answer="Yes.", note="No.")
    assert (mine.sentence, mine.text, mine.over) == ("You answered this", "Yes.", "")
    theirs = ruled(bob, alice, answer="", note="No.")
    assert (theirs.sentence, theirs.text) == ("bob answered this", "No.")
    assert theirs.over == ". You had claimed it."
    assert ruled(bob, None, answer="x").over == ""


def test_agents_reviews_are_counted_in_words() -> None:
    def about(count: int, total: int, rows: int) -> AgentReviews:
        return AgentReviews(
            agent="robo",
            codes="",
            count=count,
            total=total,
            kinds="",
            oldest=None,
            rows=[None] * rows,  # type: ignore[list-item]
        )

    assert about(1, 1, 1).waiting == "1 waits for a person"
    assert about(3, 3, 3).waiting == "3 wait for a person"
    assert about(3, 3, 3).more == ""
    assert about(12, 12, 10).more == "and 2 more"
    assert about(12, 40, 10).more == "and 2 more; the 12 oldest are closed first"
    assert "runs of this review end" in about(1, 1, 1).abort_text
    assert "runs of these 3 reviews end" in about(3, 3, 3).abort_text
    assert about(0, 0, 0).is_empty
    for text, said in (
        ("1", "1 review closed."),
        ("2", "2 reviews closed."),
        ("", ""),
        ("x", ""),
        ("²", ""),
    ):
        assert _describe_closed(text) == said


def test_a_place_in_the_list_counts_what_stands_before_it() -> None:
    rows = [SimpleNamespace(code=str(n), count=1) for n in range(3)]

    def listed(before: int | None) -> QueueList:
        edge = None if before is None else SimpleNamespace(count=before)
        return QueueList(
            state=read_state(QueryDict("")),
            slug="p",
            seq=1,
            groups=[],
            rows=rows,  # type: ignore[arg-type]
            total=9,
            tally=Tally(counts={}),
            before=edge,  # type: ignore[arg-type]
            after=None,
        )

    assert listed(None).describe_position("0") == "1 of 9"
    assert listed(4).describe_position("2") == "7 of 9"
    assert listed(4).describe_position("x") == ""


def test_people_are_recognised_by_two_letters() -> None:
    for name, letters in (("alice", "AL"), ("Ada King Lovelace", "AL"), ("x", "X")):
        assert Person(code=str(CODE), name=name).initials == letters
    hues = {Person(code=f"{n:04x}", name="x").hue for n in range(9)}
    assert hues == {"a1", "a2", "a3"}
