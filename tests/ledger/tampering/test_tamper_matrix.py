"""Somebody edits the rows beside the chain: both commands name the run and the entry.

Each edit is made with the triggers gone, looked at, and undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from types import SimpleNamespace

import httpx
import pytest
import time_machine
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from common.append_only import KEYS
from ledger.chain import Link, hash_link, hash_payload, timestamp
from ledger.management import selection
from ledger.models import Entry, Run
from ledger.verification.row_checks import compare_runs
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.gateway.checks.saying import exhaust, judge, open_check
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import (
    Person,
    make_policy,
    make_project,
    pause_at_once,
    start_run,
    step,
)
from tests.support.people import rule as rule_on

GATES = {
    "tests-pass": {"name": "Tests", "severity": "critical", "criteria": ["They pass"]},
    "style": {"name": "Style", "severity": "high", "criteria": ["It is quiet"]},
}


@pytest.fixture
def run(
    agent: httpx.Client, reviewer: httpx.Client, alice: Person, project: Project
) -> Run:
    """A run with a row in every table, some of them open, some ended."""
    make_policy("p", project=project, gates=GATES)
    code = start_run(agent, policy="p")
    review = pause_at_once(agent, code)
    reviewer.post(f"/reviews/{review}/claim")
    reviewer.post(f"/reviews/{review}/comments", json={"text": "Looks fine"})
    rule_on(reviewer, review, "approve", note="Go on")
    agent.post(f"/runs/{code}/checkpoints", json={"step": 1, "state": {"n": 1e22}})
    kept = command(agent, code)
    rule(reviewer, kept, "approve", remember={"scope": "exact"})
    assert claim(agent, code, kept).status_code == 200
    assert settle(agent, code, kept, output="done").status_code == 200
    assert command(agent, code)["decision"] == "allow"
    other = command(agent, code, "rm -rf src")
    rule(reviewer, other, "amend", amended={"command": "ls src"})
    rule(reviewer, command(agent, code, "rm -rf docs"), "deny")
    settle(agent, code, command(agent, code, "ls"), ok=False)
    warned = open_check(agent, code, "style")
    while judge(agent, code, warned)["outcome"] == "retry":
        pass
    _, told = exhaust(agent, code, "tests-pass")
    rule_on(reviewer, told["review"]["id"], "retry", note="Again")
    asked = {"kind": "question", "title": "Which?"}
    gone = agent.post(f"/runs/{code}/reviews", json=asked).json()["id"]
    agent.post(f"/reviews/{gone}/withdraw")
    agent.post(f"/runs/{code}/steps", json=step(2))
    command(agent, code, "rm -rf build/cache")
    make_project()  # the newest: where rows are moved to
    return Run.objects.get(code=code)


@contextmanager
def edited(edit: Callable[[], object]) -> Iterator[None]:
    """The edit is made without triggers, seen with them in place again, and undone."""
    with transaction.atomic():
        with ExitStack() as stack:
            for table in KEYS:
                stack.enter_context(without_triggers(table))
            assert edit() != 0, "The edit touched nothing."
            if connection.vendor == "postgresql":
                run_sql("SET CONSTRAINTS ALL IMMEDIATE")
        yield
        transaction.set_rollback(True)


def seq_of(run: Run, kind: str, *, last: bool = False) -> int:
    found = list(run.entries.filter(type=kind).order_by("seq"))
    return found[-1 if last else 0].seq


OF_RUN = "run_id = {run}"
OF_REVIEWS = "review_id IN (SELECT id FROM reviews_review WHERE run_id = {run})"
RULING = f"id = (SELECT min(id) FROM reviews_ruling WHERE {OF_REVIEWS})"
SET = "UPDATE reviews_{table} SET {what} WHERE {which}"


def first(table: str, more: str = "true") -> str:
    return f"id = (SELECT min(id) FROM reviews_{table} WHERE {OF_RUN} AND {more})"


def change(table: str, what: str, which: str) -> str:
    return SET.format(table=table, what=what, which=which)


OTHER = "(SELECT max(id) FROM accounts_project)"


# What is done; the entry that knows better, by its type; a word of what is said.
EDITS: dict[str, tuple[str, str, str]] = {
    "T16: every approval became a denial": (
        change("ruling", "action = 'deny'", f"action = 'approve' AND {OF_REVIEWS}"),
        "review.ruled",
        'has action "deny", the chain says "approve"',
    ),
    "T16b: every grant was deleted": (
        f"DELETE FROM reviews_grant WHERE {OF_RUN}",
        "call.claimed",
        "is missing",
    ),
    "a ruling's note": (
        change("ruling", "note = 'x'", RULING),
        "review.ruled",
        "has note",
    ),
    "a ruling's person": (
        change(
            "ruling",
            "by_id = (SELECT max(id) FROM accounts_user WHERE id <> by_id)",
            RULING,
        ),
        "review.ruled",
        "has by",
    ),
    "what a person let run instead": (
        change("ruling", "amended = '{{}}'", f"amended IS NOT NULL AND {OF_REVIEWS}"),
        "review.ruled",
        "has amended",
    ),
    "a ruling was deleted": (
        f"DELETE FROM reviews_ruling WHERE {RULING}",
        "review.ruled",
        "is missing",
    ),
    "a review's content": (
        change("review", "content = '{{}}'", first("review")),
        "review.ruled",
        "has content",
    ),
    "a review's state": (
        change("review", "state = 'withdrawn'", first("review")),
        "review.ruled",
        'has state "withdrawn", the chain says "ruled"',
    ),
    "an open review was closed": (
        change(
            "review",
            "state = 'superseded', closed_at = opened_at",
            f"{OF_RUN} AND state = 'open'",
        ),
        "review.opened",
        'has state "superseded", the chain says "open"',
    ),
    "a review's deadline": (
        change(
            "review",
            "due_at = '2100-01-01 00:00:00+00'",
            f"{OF_RUN} AND state = 'open'",
        ),
        "review.opened",
        "has due_at",
    ),
    "who claimed it": (
        change("review", "assignee_id = NULL", first("review")),
        "review.ruled",
        "has assignee",
    ),
    "a comment": (
        f"UPDATE reviews_comment SET text = 'Never' WHERE {OF_REVIEWS}",
        "review.commented",
        "is missing",
    ),
    "a call's decision": (
        change(
            "toolcall", "decision = 'allow'", first("toolcall", "decision <> 'allow'")
        ),
        "call.settled",
        "has decision",
    ),
    "a call's result": (
        change("toolcall", "output = '\"other\"'", first("toolcall", "ok")),
        "call.settled",
        "has output",
    ),
    "a spent grant may be claimed again": (
        change("grant", "state = 'issued', ended_at = NULL", first("grant")),
        "call.claimed",
        'has state "issued", the chain says "spent"',
    ),
    "a grant for another call": (
        change("grant", "digest = 'sha256:0'", first("grant")),
        "call.claimed",
        "has digest",
    ),
    "a grant lives longer": (
        change("grant", "expires_at = '2100-01-01 00:00:00+00'", first("grant")),
        "call.claimed",
        "has expires_at",
    ),
    "a permission covers more": (
        change("permission", "covers = '#'", OF_RUN),
        "review.ruled",
        "has covers",
    ),
    "a permission by its key": (
        change("permission", "key = 'sha256:0'", OF_RUN),
        "review.ruled",
        "has key",
    ),
    "a permission has more uses": (
        change("permission", "uses_left = 999", OF_RUN),
        "review.ruled",
        "has uses",
    ),
    "a permission's use was not counted": (
        change("permission", "used = 0, uses_left = uses_left + 1", OF_RUN),
        "review.ruled",
        "has uncounted",
    ),
    "a permission lets calls of another project through": (
        change("permission", f"project_id = {OTHER}", OF_RUN),
        "review.ruled",
        "has project",
    ),
    "a permission's tool": (
        change("permission", "tool = 'other'", OF_RUN),
        "review.ruled",
        "has tool",
    ),
    "a review stands in another project": (
        change("review", f"project_id = {OTHER}", first("review")),
        "review.ruled",
        "has project",
    ),
    "a call stands in another project": (
        change("toolcall", f"project_id = {OTHER}", first("toolcall")),
        "call.settled",
        "has project",
    ),
    "a call answers for another": (
        change("toolcall", "key = 'other'", first("toolcall")),
        "call.settled",
        "has key",
    ),
    "a check stands in another project": (
        change("gatecheck", f"project_id = {OTHER}", first("gatecheck")),
        "check.judged",
        "has project",
    ),
    "a warning by its id": (
        "UPDATE reviews_advisorywarning SET code = "
        f"(SELECT code FROM ledger_run WHERE id = {{run}}) WHERE {OF_RUN}",
        "check.judged",
        "has code",
    ),
    "a check passed": (
        change("gatecheck", "status = 'passed'", first("gatecheck")),
        "check.judged",
        "has status",
    ),
    "a check's history": (
        change("gatecheck", "state = '{{}}'", first("gatecheck")),
        "check.judged",
        "has state",
    ),
    "a warning was deleted": (
        f"DELETE FROM reviews_advisorywarning WHERE {OF_RUN}",
        "check.judged",
        "is missing",
    ),
    "a warning was acknowledged": (
        "UPDATE reviews_advisorywarning SET acknowledged_at = at, acknowledged_by_id = "
        f"(SELECT max(id) FROM accounts_user) WHERE {OF_RUN}",
        "review.opened",
        "no entry tells of it",
    ),
    "a checkpoint's state": (
        f"UPDATE ledger_checkpoint SET state = '[]' WHERE {OF_RUN}",
        "checkpoint.saved",
        "has state",
    ),
    "T17: the run's status": (
        "UPDATE ledger_run SET status = 'running' WHERE id = {run}",
        "review.opened",
        "the run's status",
    ),
    "the run's deadline for a review": (
        "UPDATE ledger_run SET open_reviews = '[]' WHERE id = {run}",
        "review.opened",
        "the run's open_reviews",
    ),
    "the run's budget": (
        "UPDATE ledger_run SET tokens_limit = 999 WHERE id = {run}",
        "review.opened",
        "the run's tokens_limit",
    ),
}


def said_by(command: str, run: Run, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command(command, run=str(run.code))
    assert ended.value.code == 1
    shown = capsys.readouterr().err
    assert f"run {run.code} " in shown
    return shown


def test_a_run_with_every_row_is_whole(run: Run, agent: httpx.Client) -> None:
    for command_name in ("ledger_verify", "replay"):
        call_command(command_name, run=str(run.code))
    assert agent.get(f"/runs/{run.code}/verify").json()["ok"] is True


def test_every_edit_is_named(
    run: Run, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    for what, (statement, entry_type, words) in EDITS.items():
        edit = partial(run_sql, statement.format(run=run.pk))
        with subtests.test(what=what), edited(edit):
            verified = said_by("ledger_verify", run, capsys)
            assert words in verified
            seqs = run.entries.filter(type=entry_type).values_list("seq", flat=True)
            lines = [line for line in verified.splitlines() if words in line]
            assert any(f" seq {seq}: " in line for seq in seqs for line in lines), lines
            said_by("replay", run, capsys)


# Each leaves something that is no JSON, no text, or nothing of the form it should have.
UNREADABLE: dict[str, tuple[str, str]] = {
    "a checkpoint's state": (
        f"UPDATE ledger_checkpoint SET state = '{{{{oops' WHERE {OF_RUN}",
        "the checkpoint",
    ),
    "a permission's rules": (
        change("permission", "rules = 'oops'", OF_RUN),
        "the permission",
    ),
    "what the run remembers": (
        "UPDATE ledger_run SET memory = 'oops' WHERE id = {run}",
        "the run's memory",
    ),
    "what waits": (
        "UPDATE ledger_run SET open_reviews = '[1]' WHERE id = {run}",
        "the run's open_reviews",
    ),
}
UNREADABLE_HERE: dict[str, dict[str, tuple[str, str]]] = {
    "sqlite": {
        "a review's content": (
            change("review", "content = x'ff'", first("review")),
            "the review",
        ),
        "a review's title is no text": (
            change("review", "title = CAST(x'ff' AS text)", first("review")),
            "the review",
        ),
        "a review's moment": (
            change("review", "due_at = '2026-99-99 00:00:00'", first("review")),
            "the review",
        ),
        "a call's id": (
            change("toolcall", "code = 'oops'", first("toolcall", "review_id IS NULL")),
            "the call",
        ),
        "an entry's moment": (
            f"UPDATE ledger_entry SET at = '2026-99-99 00:00:00' WHERE {OF_RUN} AND seq = 2",
            " 2: ",
        ),
    },
    "postgresql": {
        "a review's moment": (
            change("review", "due_at = 'infinity'", first("review")),
            "the review",
        ),
        "an entry's moment": (
            f"UPDATE ledger_entry SET at = 'infinity' WHERE {OF_RUN} AND seq = 2",
            " 2: ",
        ),
    },
}


def test_a_row_that_cannot_be_read_is_named_and_the_others_are_checked(
    agent: httpx.Client,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    subtests: pytest.Subtests,
) -> None:
    later = Run.objects.get(code=start_run(agent))
    # All runs are those of this project: the others' would be read dozens of times.
    mine_alone = Run.objects.filter(project=run.project)
    monkeypatch.setattr(selection, "Run", SimpleNamespace(objects=mine_alone))
    note = f"UPDATE ledger_run SET status_reason = 'x' WHERE id = {later.pk}"
    cases = {**UNREADABLE, **UNREADABLE_HERE[connection.vendor]}
    for what, (statement, words) in cases.items():
        edit = partial(run_sql, statement.format(run=run.pk))
        with subtests.test(what=what), edited(edit):
            run_sql(note)
            for command_name in ("ledger_verify", "replay"):
                capsys.readouterr()
                with pytest.raises(SystemExit) as ended:
                    call_command(command_name)
                assert ended.value.code == 1
                said = capsys.readouterr().err.splitlines()
                mine = [line for line in said if f"run {run.code} " in line]
                assert any(words in line for line in mine), mine
                assert any(f"run {later.code} " in line for line in said), said


def test_the_api_names_a_row_that_cannot_be_read(
    agent: httpx.Client, run: Run, subtests: pytest.Subtests
) -> None:
    columns = {
        ("ledger_checkpoint", "state"): "{oops",
        ("reviews_permission", "rules"): "oops",
        ("ledger_run", "memory"): "oops",
        ("ledger_run", "open_reviews"): "[1]",
    }
    for (table, column), value in columns.items():
        which = "id" if table == "ledger_run" else "run_id"
        with subtests.test(column=column), connection.cursor() as cursor:
            cursor.execute(f"SELECT {column} FROM {table} WHERE {which} = %s", [run.pk])
            (before,) = cursor.fetchone()
            edit = f"UPDATE {table} SET {column} = %s WHERE {which} = %s"
            cursor.execute(edit, [value, run.pk])
            try:
                answer = agent.get(f"/runs/{run.code}/verify")
            finally:
                cursor.execute(edit, [before, run.pk])
            assert answer.status_code == 200, answer.text
            body = answer.json()
            assert body["ok"] is False
            assert body["first_bad_seq"] > 0
    assert agent.get(f"/runs/{run.code}/verify").json()["ok"] is True


def test_equal_comments_of_one_moment_are_counted(
    agent: httpx.Client, reviewer: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    """A clock that was set back: what is written meanwhile has the time before it."""
    code = start_run(agent)
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        agent.post(f"/runs/{code}/steps", json=step(1))
    review = pause_at_once(agent, code, number=2)
    for _ in range(2):
        said = reviewer.post(f"/reviews/{review}/comments", json={"text": "Why?"})
        assert said.status_code == 201, said.text
    run = Run.objects.get(code=code)
    moments = run.entries.filter(type="review.commented").values_list("at", flat=True)
    assert len(moments) == 2
    assert len(set(moments)) == 1
    for command_name in ("ledger_verify", "replay"):
        call_command(command_name, run=code)

    one = "(SELECT min(c.id) FROM reviews_comment c JOIN reviews_review r "
    one += f"ON r.id = c.review_id WHERE r.run_id = {run.pk})"
    with edited(lambda: run_sql(f"DELETE FROM reviews_comment WHERE id = {one}")):
        assert "is missing" in said_by("ledger_verify", run, capsys)
    again = (
        "INSERT INTO reviews_comment (review_id, author_id, text, at) SELECT review_id, "
        f"author_id, text, at FROM reviews_comment WHERE id = {one}"
    )
    with edited(lambda: run_sql(again)):
        assert "is stored 3 times" in said_by("ledger_verify", run, capsys)


def test_a_ruling_that_nobody_made_is_named(
    run: Run, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    added = (
        "INSERT INTO reviews_ruling (code, review_id, action, note, by_id, at) "
        "SELECT review.code, review.id, 'approve', '', %s, review.opened_at "
        "FROM reviews_review review WHERE run_id = %s AND state = 'open'"
    )
    with edited(lambda: run_sql(added, [bob.user.pk, run.pk])):
        assert "no entry tells of it" in said_by("ledger_verify", run, capsys)
        said_by("replay", run, capsys)


def test_the_api_says_so_too(
    agent: httpx.Client, reviewer: httpx.Client, run: Run
) -> None:
    # Committed, for the server looks by itself: the column is put back afterwards.
    ruled = seq_of(run, "review.ruled")
    edit = change("ruling", "note = %s", RULING.format(run=run.pk))
    with without_triggers("reviews_ruling"):
        run_sql(edit, ["x"])
        body = agent.get(f"/runs/{run.code}/verify").json()
        run_sql(edit, ["Go on"])

    assert (body["ok"], body["first_bad_seq"]) == (False, ruled)
    assert "has note" in body["reason"]
    assert agent.get(f"/runs/{run.code}/verify").json()["ok"] is True


def cut_tail(run: Run) -> None:
    """T11: the last step and the head put back, as if it had never been."""
    last = run.entries.get(seq=run.head_seq)
    before = run.entries.get(seq=run.head_seq - 1)
    assert last.type == "step.judged"
    run_sql("DELETE FROM ledger_entry WHERE id = %s", [last.pk])
    head = [before.seq, before.hash, run.pk]
    run_sql("UPDATE ledger_run SET head_seq = %s, head_hash = %s WHERE id = %s", head)


def test_a_cut_tail_is_named(
    agent: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    code = start_run(agent)
    for number in (1, 2):
        agent.post(f"/runs/{code}/steps", json=step(number))
    run = Run.objects.get(code=code)
    with edited(lambda: cut_tail(run)):
        assert "seq 2: the run's last_step is 2" in said_by(
            "ledger_verify", run, capsys
        )
        said_by("replay", run, capsys)


def delete_run(run: Run) -> None:
    """T14: as if it had never been started."""
    run_sql("DELETE FROM ledger_entry WHERE run_id = %s", [run.pk])
    run_sql("DELETE FROM ledger_run WHERE id = %s", [run.pk])


def rechain(run: Run) -> None:
    """T12: another reason for the last entry, and its hash and the head with it."""
    entry = run.entries.get(seq=run.head_seq)
    text = entry.payload.replace("Fine", "Evil")
    assert text != entry.payload
    link = Link(
        version=entry.version,
        run=str(run.code),
        seq=entry.seq,
        at=timestamp(entry.at),
        type=entry.type,
        actor=entry.actor,
        payload_sha256=hash_payload(text),
        prev_hash=entry.prev_hash,
    )
    run_sql(
        "UPDATE ledger_entry SET payload = %s, payload_sha256 = %s, hash = %s "
        "WHERE id = %s",
        [text, hash_payload(text), hash_link(link), entry.pk],
    )
    row = "head_hash = %s, status_reason = 'Evil'"
    run_sql(f"UPDATE ledger_run SET {row} WHERE id = %s", [hash_link(link), run.pk])


def test_a_deleted_run_leaves_a_gap_in_its_project(
    agent: httpx.Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    start_run(agent)
    gone = Run.objects.get(code=start_run(agent))
    start_run(agent)
    with edited(lambda: delete_run(gone)):
        with pytest.raises(SystemExit):
            call_command("ledger_verify")
        told = f"MISSING project {project.slug}: 3 positions were handed out, 2 entries"
        assert told in capsys.readouterr().err


def test_what_the_chain_cannot_know_is_not_claimed(agent: httpx.Client) -> None:
    """A run that is chained anew up to its head is whole: only a receipt tells."""
    code = start_run(agent)
    body = {"outcome": "completed", "summary": "Fine"}
    agent.post(f"/runs/{code}/finish", json=body)
    run = Run.objects.get(code=code)
    with edited(lambda: rechain(run)):
        call_command("ledger_verify", run=code)
    assert Entry.objects.get(run=run, seq=run.head_seq).hash == run.head_hash


def test_many_runs_are_compared_by_few_queries(
    agent: httpx.Client, reviewer: httpx.Client, run: Run
) -> None:
    more = [start_run(agent) for _ in range(3)]
    for code in more:
        rule_on(reviewer, pause_at_once(agent, code), "approve")
    runs = [run, *Run.objects.filter(code__in=more)]
    with CaptureQueriesContext(connection) as one:
        assert compare_runs([run]) == []
    with CaptureQueriesContext(connection) as many:
        assert compare_runs(runs) == []
    assert len(many) == len(one)
