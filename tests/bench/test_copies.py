"""Runs that a bench copies are runs in every respect: the tasks would make the same of them."""

from __future__ import annotations

from datetime import timedelta

import httpx
from django.db import transaction

from accounts.models import Project
from bench.servers.copy_runs import copy_runs, load_template
from ledger.models import Run, RunEnd, RunWords
from ledger.run_list.indexing import index_next
from ledger.run_list.words import list_run_words
from ledger.statistics.counting import count_project
from ledger.statistics.recount import list_differences
from ledger.verification.verify import verify_run
from reviews.models import RulingFact
from tests.gateway.calls.calls import command
from tests.support.builders import start_run, step
from tests.support.people import rule

COPIES = 30


def test_copies_have_chains_figures_and_words_of_their_own(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    code = start_run(agent, labels={"repo": "shop"}, model="large-model")
    rule(reviewer, command(agent, code)["review"]["id"], "approve")
    for number in range(1, 4):
        agent.post(f"/runs/{code}/steps", json=step(number, cost_usd="0.05"))
    agent.post(f"/runs/{code}/finish", json={"outcome": "completed"})
    count_project(project_id=project.pk)
    while index_next(project.pk):
        pass
    template = load_template(Run.objects.get(code=code))
    with transaction.atomic():
        made = list(copy_runs([template], count=COPIES, back=timedelta(days=3)))
        assert made == [COPIES]
        assert list_differences(project_id=project.pk) == []
        runs = Run.objects.filter(project=project).select_related("agent")
        assert runs.count() == COPIES + 1
        assert RunEnd.objects.filter(project=project).count() == COPIES + 1
        assert RulingFact.objects.filter(project=project).count() == COPIES + 1
        for run in runs:
            words = RunWords.objects.get(run=run).text.split(" ")
            assert set(list_run_words(run)) <= set(words)
        assert all(verify_run(run).ok for run in runs[:3])
        transaction.set_rollback(True)
