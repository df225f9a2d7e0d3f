"""A person tells a running agent something: its next answer has it, once."""

from __future__ import annotations

from functools import partial

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from reviews.agent_notes.selectors import (
    has_waiting_notes,
    list_unread_of_call,
    list_unread_of_decision,
)
from reviews.models import AgentNote
from tests.gateway.calls.calls import command, rule
from tests.reviews.agent_notes.telling import (
    check_ledger,
    list_entries,
    list_notes,
    list_states,
    list_words,
    report,
    tell,
)
from tests.support.builders import (
    Person,
    make_policy,
    pause_at_once,
    start_run,
    step,
)
from tests.support.people import rule as rule_on
from tests.support.problems import fields, problem
from tests.support.threads import at_once


def test_the_next_step_has_it_and_the_one_after_has_read_it(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    assert report(agent, run, 1) == []
    note = tell(reviewer, run, "Only touch the tests", tags=["scope"])
    (waiting,) = list_notes(agent, run)
    assert waiting["state"] == "waiting"
    assert waiting["delivered_at"] is waiting["read_at"] is None

    answer = agent.post(f"/runs/{run}/steps", json=step(2)).json()
    (heard,) = answer["notes"]
    assert heard["id"] == note
    assert heard["text"] == "Only touch the tests"
    assert heard["by"] == bob.user.username
    assert heard["tags"] == ["scope"]
    (delivered,) = list_notes(reviewer, run)
    assert delivered["state"] == "delivered"
    assert delivered["delivered_with"] == "step"
    assert delivered["delivered_step"] == 2

    assert report(agent, run, 3) == []
    (read,) = list_notes(reviewer, run)
    assert read["state"] == "read"
    assert [name for name, _ in list_entries(run)] == [
        "note.written",
        "note.delivered",
        "note.read",
    ]
    assert '"notes"' not in Run.objects.get(code=run).memory
    check_ledger(run)


def test_a_step_sent_again_hears_the_same(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    tell(reviewer, run, "first")
    tell(reviewer, run, "second")
    assert report(agent, run, 1) == ["first", "second"]
    tell(reviewer, run, "third")
    assert report(agent, run, 1) == ["first", "second"]
    assert list_states(agent, run) == ["delivered", "delivered", "waiting"]
    assert report(agent, run, 2) == ["third"]
    assert report(agent, run, 1) == ["first", "second"]
    assert report(agent, run, 2) == ["third"]
    check_ledger(run)


def test_a_batch_has_them_in_its_last_answer(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    tell(reviewer, run, "hello")
    body = {"steps": [step(1), step(2)]}
    for _ in range(2):
        answer = agent.post(f"/runs/{run}/steps/batch", json=body).json()
        assert [list_words(each) for each in answer["decisions"]] == [[], ["hello"]]
    longer = {"steps": [step(1), step(2), step(3)]}
    answer = agent.post(f"/runs/{run}/steps/batch", json=longer).json()
    assert [list_words(each) for each in answer["decisions"]] == [[], ["hello"], []]
    assert list_states(agent, run) == ["read"]


def test_a_call_has_it_and_the_same_key_hears_it_again(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    tell(reviewer, run, "Use make")
    body = {"kind": "command", "tool": "Bash", "command": "ls"}
    key = {"Idempotency-Key": "one"}
    for _ in range(2):
        answer = agent.post(f"/runs/{run}/tool-calls", json=body, headers=key)
        assert list_words(answer.json()) == ["Use make"]
    assert command(agent, run, "ls")["notes"] == []
    assert list_states(agent, run) == ["delivered"]
    assert report(agent, run, 1) == []
    assert list_states(agent, run) == ["read"]
    check_ledger(run)


def test_a_decision_has_it_until_it_is_read(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    tell(reviewer, run, "Be careful")
    path = f"/runs/{run}/decision"
    assert agent.get(path).json()["notes"] == []
    rule_on(reviewer, review, "approve")
    assert reviewer.get(path).json()["notes"] == []
    assert list_states(agent, run) == ["waiting"]
    assert list_words(agent.get(path).json()) == ["Be careful"]
    tell(reviewer, run, "And quick")
    assert list_words(agent.get(path).json()) == ["Be careful", "And quick"]
    (first, second) = list_notes(agent, run)
    assert first["delivered_with"] == second["delivered_with"] == "decision"
    assert report(agent, run, 2) == []
    assert agent.get(path).json()["notes"] == []
    assert list_states(agent, run) == ["read", "read"]
    check_ledger(run)


def test_a_note_with_a_call_that_waits_for_a_person(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    tell(reviewer, run, "Why?")
    call = command(agent, run)
    assert list_words(call) == ["Why?"]
    assert rule(reviewer, call, "approve").status_code == 200
    path = f"/runs/{run}/decision?review={call['review']['id']}&wait=5"
    assert agent.get(path).json()["notes"] == []


def test_an_agent_says_itself_that_it_has_read_one(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first, second = tell(reviewer, run, "one"), tell(reviewer, run, "two")
    path = f"/runs/{run}/notes"
    for _ in range(2):
        answer = agent.post(f"{path}/{second}/read")
        assert answer.status_code == 200, answer.text
        assert answer.json()["state"] == "read"
        assert answer.json()["delivered_with"] == "acknowledgement"
    assert report(agent, run, 1) == ["one"]
    assert agent.post(f"{path}/{first}/read").json()["delivered_with"] == "step"
    assert report(agent, run, 2) == []
    assert list_states(agent, run) == ["read", "read"]
    problem(agent.post(f"{path}/{run}/read"), "not-found")
    problem(agent.post(f"{path}/nothing/read"), "not-found")
    check_ledger(run)


def test_a_stopped_run_keeps_what_waits_until_it_goes_on(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, budget={"tokens": 10})
    tell(reviewer, run, "Cheaper, please")
    assert report(agent, run, 1) == []
    assert list_states(agent, run) == ["waiting"]
    problem(reviewer.post(f"/runs/{run}/notes", json={"text": "x"}), "run-closed")
    body = {"reason": "more", "budget": {"tokens": 10**6}}
    assert manager.post(f"/runs/{run}/reopen", json=body).status_code == 200
    assert report(agent, run, 2) == ["Cheaper, please"]
    check_ledger(run)


def test_a_closed_run_takes_none(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    waiting = tell(reviewer, run, "Too late")
    assert agent.post(f"/runs/{run}/finish", json={"outcome": "completed"}).is_success
    problem(reviewer.post(f"/runs/{run}/notes", json={"text": "x"}), "run-closed")
    problem(agent.post(f"/runs/{run}/notes/{waiting}/read"), "run-closed")
    assert list_states(reviewer, run) == ["waiting"]
    check_ledger(run)


def test_what_is_delivered_may_be_read_after_the_end(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    note = tell(reviewer, run, "Last words")
    report(agent, run, 1)
    assert agent.post(f"/runs/{run}/finish", json={"outcome": "completed"}).is_success
    assert agent.post(f"/runs/{run}/notes/{note}/read").json()["state"] == "read"
    check_ledger(run)


def test_no_more_than_twenty_wait(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    for number in range(20):
        tell(reviewer, run, str(number))
    refused = problem(
        reviewer.post(f"/runs/{run}/notes", json={"text": "x"}), "invalid"
    )
    assert "20 notes wait" in refused["detail"]
    assert report(agent, run, 1) == [str(number) for number in range(20)]
    tell(reviewer, run, "again")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": "  \n"}, "text"),
        ({"text": "x" * 2_001}, "text"),
        ({"text": "x", "tags": ["two words"]}, "tags.0"),
        ({"text": "x", "tags": ["x" * 33]}, "tags.0"),
        ({"text": "x", "tags": ["x"] * 9}, "tags"),
    ],
)
def test_unfit_words_are_refused(
    agent: httpx.Client, reviewer: httpx.Client, body: dict[str, object], field: str
) -> None:
    run = start_run(agent)
    refused = problem(reviewer.post(f"/runs/{run}/notes", json=body), "invalid")
    assert fields(refused) == [field]


def test_secrets_in_it_are_replaced(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    secret = "gh" + "p_" + "a1B2" * 9
    tell(reviewer, run, f"Log in with {secret}", tags=["a", "b", "a"])
    (heard,) = agent.post(f"/runs/{run}/steps", json=step(1)).json()["notes"]
    assert secret not in heard["text"]
    assert heard["text"].startswith("Log in with ")
    assert heard["tags"] == ["a", "b"]


def test_a_changed_row_and_a_changed_memory_are_found(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    note = tell(reviewer, run, "As it was written")
    rows = AgentNote.objects.filter(code=note)
    rows.update(text="Something else")
    verified = reviewer.get(f"/runs/{run}/verify").json()
    assert not verified["ok"]
    assert "the chain says" in verified["reason"]
    rows.update(text="As it was written")
    memory = Run.objects.get(code=run).memory
    Run.objects.filter(code=run).update(memory=memory.replace(note, run))
    reason = reviewer.get(f"/runs/{run}/verify").json()["reason"]
    stored, said = reason.split(", the chain says ")
    assert (run in stored, note in stored) == (True, False)
    assert (run in said, note in said) == (False, True)
    Run.objects.filter(code=run).update(memory=memory)
    assert reviewer.get(f"/runs/{run}/verify").json()["ok"]


def test_steps_and_calls_at_once_share_the_notes_out(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    written = [tell(reviewer, run, str(number)) for number in range(3)]
    body = {"kind": "command", "tool": "Bash", "command": "ls"}
    late = partial(reviewer.post, f"/runs/{run}/notes", json={"text": "late"})
    answers = at_once(
        partial(agent.post, f"/runs/{run}/steps", json=step(1)),
        *[partial(agent.post, f"/runs/{run}/tool-calls", json=body)] * 4,
        late,
    )
    heard = [note["id"] for each in answers[:-1] for note in each.json()["notes"]]
    assert len(heard) == len(set(heard))
    assert set(written) <= set(heard)
    check_ledger(run)


def test_to_say_that_one_is_read_says_nothing_of_the_others(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    first, second, third = (tell(reviewer, run, each) for each in ("1", "2", "3"))
    assert report(agent, run, 1) == ["1", "2", "3"]
    agent.post(f"/runs/{run}/notes/{second}/read")
    assert list_states(agent, run) == ["delivered", "read", "delivered"]
    waits = tell(reviewer, run, "4")
    agent.post(f"/runs/{run}/notes/{third}/read")
    assert list_states(agent, run) == ["delivered", "read", "read", "waiting"]
    agent.post(f"/runs/{run}/notes/{waits}/read")
    assert list_states(agent, run) == ["delivered", "read", "read", "read"]
    told = [payload["notes"] for name, payload in list_entries(run) if "read" in name]
    assert told == [[second], [third], [waits]]
    report(agent, run, 2)
    assert list_entries(run)[-1][1]["notes"] == [first]
    read_at = [note["read_at"] for note in list_notes(agent, run)]
    assert len(set(read_at)) == 4, "each keeps the moment at which it was read"
    check_ledger(run)


def test_each_answer_sent_again_has_what_came_with_it_and_nothing_else(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """Two runs with the same numbers of steps, two calls and a decision in each."""
    runs = [start_run(agent) for _ in range(2)]
    stored = [Run.objects.get(code=run) for run in runs]
    calls: list[list[str]] = []
    for run in runs:
        tell(reviewer, run, f"step of {run}")
        report(agent, run, 1)
        calls.append([])
        for number in (1, 2):
            tell(reviewer, run, f"call {number} of {run}")
            calls[-1].append(command(agent, run, f"ls {number}")["id"])
    for run in runs:
        assert report(agent, run, 1) == [f"step of {run}"]
    for row, ids in zip(stored, calls, strict=True):
        for number, call in enumerate(ids, start=1):
            (note,) = list_unread_of_call(row.pk, call)
            assert note["text"] == f"call {number} of {row.code}"
            assert list_unread_of_decision(row.pk, call) == []
    assert list_unread_of_call(stored[1].pk, calls[0][0]) == []
    (note,) = list_unread_of_call(stored[0].pk, calls[0][0])
    agent.post(f"/runs/{runs[0]}/notes/{note['id']}/read")
    assert list_unread_of_call(stored[0].pk, calls[0][0]) == []
    assert list_unread_of_call(stored[0].pk, calls[0][1]) != []

    reviews = [pause_at_once(agent, run, number=2) for run in runs]
    tell(reviewer, runs[0], "decision")
    assert [has_waiting_notes(run) for run in runs] == [True, False]
    rule_on(reviewer, reviews[0], "approve")
    path = f"/runs/{runs[0]}/decision?review={reviews[0]}"
    assert list_words(agent.get(path).json()) == ["decision"]
    assert not has_waiting_notes(runs[0])
    assert list_unread_of_decision(stored[1].pk, reviews[0]) == []
    assert list_unread_of_call(stored[0].pk, reviews[0]) == []
    assert report(agent, runs[0], 1) == [f"step of {runs[0]}"]
    for run, count in zip(runs, (4, 3), strict=True):
        assert len(list_notes(reviewer, run)) == count
        check_ledger(run)


def test_the_servers_own_record_takes_no_note(
    manager: httpx.Client, project: Project
) -> None:
    """It runs, and is seen by its managers: nothing else would refuse it."""
    make_policy("default", project=project, checks={"max_resets": 1})
    chain = Run.objects.get(project=project, intent="system-policies")
    answer = manager.post(f"/runs/{chain.code}/notes", json={"text": "Hello"})
    assert "server's own record" in problem(answer, "forbidden")["detail"]
    assert not AgentNote.objects.filter(run=chain).exists()
