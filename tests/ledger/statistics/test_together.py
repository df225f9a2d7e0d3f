"""Figures and words from one reading are those that each would find by itself."""

from __future__ import annotations

from random import Random
from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import RunWords, StatisticsCursor, WordsIndexed
from ledger.run_list import indexing
from ledger.statistics import counting, together
from ledger.statistics.counting import count_slice, read_head
from ledger.statistics.recount import list_differences
from ledger.statistics.selectors import read_totals
from tests.ledger.statistics.work import scope_of, work
from tests.support.builders import start_run, step


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "SLICE", 3)


def keep_all(project: Project) -> int:
    return together._keep_project(project.pk, lambda: False)


def read_words(project: Project) -> dict[int, str]:
    rows = RunWords.objects.filter(project=project)
    return dict(rows.values_list("run_id", "text"))


def test_it_is_what_each_finds_by_itself(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    random = Random(5)
    for _ in range(8):
        work(agent, reviewer, random)
    assert keep_all(project) == read_head(project.pk)
    assert list_differences(project_id=project.pk) == []
    found = read_words(project)
    assert found
    RunWords.objects.filter(project=project).delete()
    WordsIndexed.objects.filter(project=project).delete()
    while indexing.index_next(project.pk):
        pass
    assert read_words(project) == found


@pytest.mark.parametrize("ahead", ["figures", "words"])
def test_the_one_that_is_behind_follows_by_itself(
    agent: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    ahead: str,
) -> None:
    run = start_run(agent)
    for number in range(1, 6):
        agent.post(f"/runs/{run}/steps", json=step(number, summary=f"word{number}"))
    if ahead == "figures":
        assert count_slice(project_id=project.pk, size=4) == 4
    else:
        monkeypatch.setattr(indexing, "ENTRIES_AT_ONCE", 4)
        assert indexing.index_next(project.pk) == 4
    assert keep_all(project) == 6
    assert read_totals(scope=scope_of(project)).steps == 5
    (text,) = read_words(project).values()
    assert {f"word{number}" for number in range(1, 6)} <= set(text.split(" "))
    assert list_differences(project_id=project.pk) == []


@pytest.mark.parametrize("ahead", ["figures", "words"])
def test_a_project_is_behind_until_both_have_followed(
    agent: httpx.Client, project: Project, ahead: str
) -> None:
    start_run(agent)
    assert project.pk in together._list_projects_behind()
    if ahead == "figures":
        assert count_slice(project_id=project.pk) == 1
    else:
        assert indexing.index_next(project.pk) == 1
    assert project.pk in together._list_projects_behind()
    keep_all(project)
    assert project.pk not in together._list_projects_behind()


@pytest.mark.parametrize("failing", ["figures", "words"])
def test_one_that_cannot_be_kept_does_not_hold_up_the_other(
    agent: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    failing: str,
) -> None:
    agent.post(f"/runs/{start_run(agent)}/steps", json=step(1))

    def fail(*_: Any, **given: Any) -> None:
        raise RuntimeError("out of luck")

    if failing == "figures":
        monkeypatch.setattr(together, "sum_up", fail)
        monkeypatch.setattr(counting, "read_slice", fail)
    else:
        monkeypatch.setattr(indexing.NewWords, "store", fail)
    monkeypatch.setattr(together, "_list_projects_behind", lambda: [project.pk])
    together.keep_figures_and_words()
    counted = StatisticsCursor.objects.get(project=project).position
    indexed = WordsIndexed.objects.get(project=project).position
    assert (counted, indexed) == ((0, 2) if failing == "figures" else (2, 0))


def test_who_finds_the_words_there_adds_none(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(agent)
    find = indexing._find_words

    def be_slow(entries: Any) -> dict[int, list[str]]:
        found = find(entries)
        monkeypatch.undo()
        assert indexing.index_next(project.pk) == 1  # somebody else was faster
        return found

    monkeypatch.setattr(indexing, "_find_words", be_slow)
    assert indexing.index_next(project.pk) == 0
    assert len(read_words(project)) == 1
