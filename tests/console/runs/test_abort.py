"""A run is aborted on its page: by its reviewers, and by nobody else."""

from __future__ import annotations

import httpx
import pytest
from django.test import Client

from accounts.models import Project
from ledger.models import Run
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def status(run: str) -> str:
    return Run.objects.get(code=run).status


def test_a_run_is_aborted_by_its_reviewers_alone(
    agent: httpx.Client, project: Project, bob: Person, charlie: Person
) -> None:
    run = start_run(agent)
    path = f"/p/{project.slug}/runs/{run}/abort/"
    own = charlie.user.project_set.get()
    refused = {
        "outsider": send(open_browser(charlie.user), path),
        "outsider, by a project of theirs": send(
            open_browser(charlie.user), f"/p/{own.slug}/runs/{run}/abort/"
        ),
        "signed out": send(Client(), path),
        "without a form": open_browser(bob.user).get(path),
    }
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(bob.user)
    refused["without the token"] = send(strict, path)
    assert {who: answer.status_code for who, answer in refused.items()} == {
        "outsider": 404,
        "outsider, by a project of theirs": 404,
        "signed out": 401,
        "without a form": 302,
        "without the token": 403,
    }
    assert status(run) == "running"

    done = send(open_browser(bob.user), path, reason="Wrong branch")
    assert done.status_code == 204
    row = Run.objects.get(code=run)
    assert (row.status, row.status_reason) == ("aborted", "Wrong branch")

    again = send(open_browser(bob.user), path)
    assert again.status_code == 409
