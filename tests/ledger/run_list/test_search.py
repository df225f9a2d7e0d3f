"""Runs by words: of the run from its beginning, of its steps and calls once they are indexed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from ledger.models import Run, RunWords
from ledger.run_list import indexing, words
from ledger.run_list.filter import RunFilter
from ledger.run_list.indexing import index_words
from ledger.run_list.matching import filter_runs
from ledger.run_list.scope import Scope
from ledger.run_list.words import mark_code
from tests.conftest import client_for
from tests.ledger.run_list.words import mark_indexed
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import make_project, make_robot, start_run, step
from tests.support.live import Live

SECRET = "gh" + "p_" + "a1B2" * 9


def find(client: httpx.Client, text: str, **more: Any) -> list[str]:
    answer = client.get("/runs", params={"q": text, **more})
    assert answer.status_code == 200, answer.text
    return [run["id"] for run in answer.json()["items"]]


def call(agent: httpx.Client, run: str, command: str) -> None:
    body = {"kind": "command", "tool": "Bash", "command": command}
    answer = agent.post(f"/runs/{run}/tool-calls", json=body)
    assert answer.status_code == 201, answer.text


@pytest.fixture(autouse=True)
def others_are_indexed(project: Project) -> None:
    mark_indexed(but=project)


def read_words(run: str) -> set[str]:
    return set(RunWords.objects.get(run__code=run).text.split(" "))


def test_a_run_is_found_by_what_its_steps_and_calls_said(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, labels={"ticket": "PAY-2214"})
    agent.post(f"/runs/{run}/steps", json=step(1, summary="Peeled the Quinces"))
    call(agent, run, "pytest -k marmalade")
    other = start_run(agent)
    assert find(manager, "quinces") == [], "not yet"
    index_words()

    for text in ("quinces", "QUIN", "marmalade pay-2214", "pytest peeled", run):
        assert find(manager, text) == [run], text
    assert find(manager, f"r-{run[-6:]}") == [run]
    assert find(manager, "uinces") == [], "words from their beginning"
    assert find(manager, "quinces nothing") == []
    assert find(manager, "flaky login") == [other, run]
    assert find(manager, "quinces", sort="-cost", status="running") == [run]

    # A run that began since is found at once, and the others still are.
    new = start_run(agent, task="Fix the flaky oven")
    assert find(manager, "flaky") == [new, other, run]
    assert find(manager, "laky") == []
    agent.post(f"/runs/{run}/steps", json=step(2, summary="Boiled them"))
    index_words()
    assert find(manager, "boiled quinces") == [run]


def test_a_number_finds_no_id(agent: httpx.Client, manager: httpx.Client) -> None:
    run = start_run(agent, task="Count to 12")
    for is_indexed in (False, True):
        if is_indexed:
            index_words()
        for end in (run[-6:-1], run[-6:-3], run[:8], run[:4]):
            assert find(manager, end) == [], (end, is_indexed)
        for text in (run[-6:], f"r-{run[-6:]}", run, f"count {run[-6:]}"):
            assert find(manager, text) == [run], (text, is_indexed)


def test_any_number_of_words_is_one_search(
    project: Project, agent: httpx.Client
) -> None:
    run = start_run(agent, task="Peel the quinces === now")
    start_run(agent, task="Peel the pears")
    index_words()
    wanted = RunFilter(texts=("peel", "quinces", "the now", "===", run, run[-6:]))

    with CaptureQueriesContext(connection) as queries:
        found = list(filter_runs(Scope(project_ids=(project.pk,)), wanted))

    assert [str(each.code) for each in found] == [run]
    reading, asking = (query["sql"] for query in queries)
    assert "wordsindexed" in reading
    assert asking.count('FROM "ledger_runwords"') == 1


def test_what_is_hidden_is_not_found(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, task=f"Use {SECRET} for it")
    agent.post(f"/runs/{run}/steps", json=step(1, summary=f"Read {SECRET}"))
    call(agent, run, f"curl -H 'Authorization: token {SECRET}' https://example.org")
    index_words()

    assert {"use", "read", "curl"} <= read_words(run)
    assert not [word for word in read_words(run) if "a1b2a1b2" in word]
    assert find(manager, SECRET) == []


def test_entries_are_taken_in_parts_and_none_is_lost_or_doubled(
    project: Project, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "ENTRIES_AT_ONCE", 2)
    run = start_run(agent, task="Count")
    for number in range(1, 6):
        agent.post(f"/runs/{run}/steps", json=step(number, summary=f"word{number}"))

    assert index_words() >= 6
    assert {f"word{number}" for number in range(1, 6)} <= read_words(run)
    before = RunWords.objects.get(run__code=run).text
    assert indexing.index_next(project.pk) == 0
    agent.post(f"/runs/{run}/steps", json=step(6, summary="word1 again"))
    index_words()
    assert RunWords.objects.get(run__code=run).text == f"{before} again"


def test_damaged_and_missing_entries_are_passed_over(
    agent: httpx.Client, manager: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "ENTRIES_AT_ONCE", 2)
    run = start_run(agent, task="Count")
    for number in range(1, 9):
        agent.post(f"/runs/{run}/steps", json=step(number, summary=f"word{number}"))
    run_id = Run.objects.get(code=run).pk
    with without_triggers("ledger_entry"):
        no_text = '{"report":{"summary":1}}'
        for seq, payload in ((2, "{"), (3, "[]"), (4, no_text), (5, "z1:!")):
            run_sql(
                "UPDATE ledger_entry SET payload = %s WHERE seq = %s AND run_id = %s",
                [payload, seq, run_id],
            )
        # More than is read at once.
        run_sql(
            "DELETE FROM ledger_entry WHERE seq IN (6, 7, 8) AND run_id = %s",
            [run_id],
        )

    index_words()

    found = {word for word in read_words(run) if word.startswith("word")}
    assert found == {"word8"}
    assert find(manager, "word8") == [run]


def test_a_project_that_cannot_be_indexed_does_not_hold_up_the_others(
    live: Live, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(agent, task="Unlucky")
    with client_for(live, make_robot(project=make_project())) as other:
        run = start_run(other, task="Lucky")

    def list_or_fail(run: Run) -> list[str]:
        if run.task == "Unlucky":
            raise RuntimeError("out of luck")
        return words.list_run_words(run)

    monkeypatch.setattr(indexing, "list_run_words", list_or_fail)
    index_words()
    assert "lucky" in read_words(run)


def test_a_run_has_no_more_words_than_it_may(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "WORDS_LIMIT", 4)
    run = start_run(agent, task="one two three four")
    index_words()
    assert read_words(run) == {mark_code(run[-6:]), "one", "two", "three"}
    assert words.list_words("a" * 100) == ["a" * 64]


def test_words_that_come_meanwhile_are_left_to_the_next_task(
    project: Project, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, taken = start_run(agent), list[int]()
    index_next = indexing.index_next

    def index_while_it_works(project_id: int) -> int:
        if project_id == project.pk:
            taken.append(project_id)
        read = index_next(project_id)
        agent.post(f"/runs/{run}/steps", json=step(len(taken), summary="Meanwhile"))
        return read

    monkeypatch.setattr(indexing, "index_next", index_while_it_works)
    index_words()

    assert taken == [project.pk]
    monkeypatch.undo()
    index_words()
    assert "meanwhile" in read_words(run)
