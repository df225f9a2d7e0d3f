"""What stored facts cannot say is counted as unknown, and everything else is judged."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest

from accounts.models import Project
from guidance.core.tools.judge_call import GATEWAY_VERSION
from guidance.core.turns.judge_turn import TURN_VERSION
from ledger.models import Entry, Run
from tests.gateway.backtest.trying import judge_again, list_moves, try_draft
from tests.gateway.calls.calls import ask, command
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import start_run, step

pytestmark = pytest.mark.once("judges stored facts, not SQL")

UNSURE = {"continue": {"max_uncertainty": 0.2}}
DIFFS = {"tools": {"max_diff_lines": 7}}


def overwrite(entry: Entry, payload: str) -> None:
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s WHERE id = %s", [payload, entry.pk]
        )


def report(agent: httpx.Client, run: str, count: int) -> None:
    for number in range(1, count + 1):
        agent.post(f"/runs/{run}/steps", json=step(number, uncertainty=0.3))


def test_calls_that_were_not_kept_whole_are_unknown(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    command(agent, run, "ls")
    command(
        agent, run, "curl -H 'Authorization: Bearer ghp_" + "a1B2" * 9 + "' x.invalid"
    )
    edits = [{"old": "a", "new": "b"}]
    ask(agent, run, kind="multi_edit", file_path="a", original="a", edits=edits)

    found = try_draft(project, **DIFFS)

    assert (found["judged"], found["unknown"]) == (1, 2)
    assert found["unknown_reasons"] == {"not all of the call was kept": 2}


def test_after_an_entry_that_cannot_be_read_its_run_is_unknown_and_others_are_not(
    agent: httpx.Client, project: Project
) -> None:
    broken, whole = start_run(agent), start_run(agent)
    report(agent, broken, 3)
    report(agent, whole, 3)
    overwrite(Run.objects.get(code=broken).entries.get(seq=3), "{")

    found = try_draft(project, **UNSURE)

    assert (found["judged"], found["unknown"]) == (4, 2)
    assert found["moves"] == {"continue→pause": 4}


def test_facts_that_an_entry_does_not_have_are_unknown(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    report(agent, run, 1)
    entry = Run.objects.get(code=run).entries.get(seq=2)
    payload = json.loads(entry.payload)
    del payload["report"]["tokens"]
    overwrite(entry, json.dumps(payload))

    found = try_draft(project, **UNSURE)

    assert (found["judged"], found["unknown"]) == (0, 1)


def test_a_decision_under_a_policy_that_is_gone_is_unknown(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    report(agent, run, 1)
    entry = Run.objects.get(code=run).entries.get(seq=2)
    payload = json.loads(entry.payload)
    payload["policy"]["hash"] = "sha256:" + 64 * "0"
    overwrite(entry, json.dumps(payload))

    found = try_draft(project, **UNSURE)

    assert (found["judged"], found["unknown"]) == (0, 1)


def test_what_older_gates_have_judged_is_compared_under_todays_gates(
    agent: httpx.Client, project: Project
) -> None:
    """What newer gates say otherwise is no merit or fault of the draft."""
    run = start_run(agent)
    command(agent, run, "rm -rf src")
    entry = Run.objects.get(code=run).entries.get(type="call.judged")
    payload = json.loads(entry.payload) | {"decision": "allow", "findings": []}
    overwrite(entry, json.dumps(payload | {"engine": GATEWAY_VERSION - 1}))

    assert try_draft(project, **DIFFS)["changed"] == 0
    assert try_draft(project)["changed"] == 0
    blocked = try_draft(project, tools={"rules": {"delete-folder": "block"}})
    assert blocked["moves"] == {"require-confirmation→block": 1}


def test_turns_that_were_judged_before_are_compared_as_they_are_judged_today(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    body = {"finish_reason": "stop", "last_event": "tool_result", "content": "Now go."}
    agent.post(f"/runs/{run}/turns", json=body)
    entry = Run.objects.get(code=run).entries.get(type="turn.judged")
    payload = json.loads(entry.payload)
    payload["verdict"]["action"] = "needs_human"
    overwrite(entry, json.dumps(payload))
    draft = {"turns": {"threshold": 99}}
    assert "needs_human" in str(try_draft(project, **draft)["moves"])

    monkeypatch.setattr("gateway.backtest.turns.TURN_VERSION", TURN_VERSION + 1)

    assert try_draft(project, **draft)["changed"] == 0


def test_only_the_time_that_was_asked_for_is_judged(
    agent: httpx.Client, project: Project
) -> None:
    """Steps before it still count as what came before."""
    run = start_run(agent)
    for number in range(1, 7):
        agent.post(f"/runs/{run}/steps", json=step(number, rework=number == 1))
    entries = list(Run.objects.get(code=run).entries.order_by("seq"))
    moment = timedelta(microseconds=1)
    draft = {"continue": {"max_rework_ratio": 0.1}}

    late = judge_again(project, draft, since=entries[5].at)
    early = judge_again(project, draft, until=entries[5].at - moment)

    assert [item.seq for item in late] == [6, 7]
    assert [after for _, _, after in list_moves(late)] == ["pause", "pause"]
    assert [item.seq for item in early] == [2, 3, 4, 5]


@pytest.mark.parametrize("page", [1, 3, 2_000])
def test_the_pages_it_is_read_in_make_no_difference(
    agent: httpx.Client,
    project: Project,
    page: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ledger.backtest.history.PAGE", page)
    for count in (1, 4, 2):
        report(agent, start_run(agent), count)

    items = judge_again(project, UNSURE)

    assert [item.seq for item in items] == [2, 3, 2, 3, 4, 5, 2]
    assert {after for _, _, after in list_moves(items)} == {"pause"}
