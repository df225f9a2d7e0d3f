"""The page of the ledger, and the panel on the page of a run: whole or broken, in words."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project, Role
from ledger.models import LedgerExport, ProjectVerification, Run
from ledger.verification.project import perform_verifications
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.browsing import FRAGMENT, open_browser
from tests.support.builders import (
    Person,
    make_person,
    make_project,
    start_run,
    step,
)

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_an_auditor_may_start_a_check(project: Project, agent: httpx.Client) -> None:
    start_run(agent)
    auditor = make_person("dora", role=Role.AUDITOR, project=project)
    browser, here = open_browser(auditor.user), f"/p/{project.slug}/ledger/"
    assert "Verify now" in browser.get(here).content.decode()
    assert browser.post(f"{here}verify/").status_code == 302
    job = ProjectVerification.objects.get(project=project)
    assert (job.by, job.state) == (auditor.user, "waiting")
    stranger = make_person("charlie", role=Role.ADMIN, project=make_project())
    assert open_browser(stranger.user).post(f"{here}verify/").status_code == 404


def break_entry(run: str, seq: int) -> None:
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s WHERE seq = %s AND run_id = %s",
            ["{}", seq, Run.objects.get(code=run).pk],
        )


def test_a_run_is_verified_by_a_link_that_answers_in_words(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    browser = open_browser(bob.user)
    here = f"/p/{project.slug}/runs/{run}/"
    page = browser.get(here).content.decode()
    assert "Ledger not checked yet" in page
    assert f'hx-get="{here}verify/"' in page

    panel = browser.get(f"{here}verify/", headers=FRAGMENT).content.decode()
    head = Run.objects.get(code=run).head_hash
    assert "Ledger whole" in panel
    assert f"All 2 entries match, from the first to {head[:4]}…{head[-4:]}." in panel
    assert "<html" not in panel
    without_script = browser.get(f"{here}verify/").content.decode()
    assert "Ledger whole" in without_script
    assert "Timeline" in without_script

    break_entry(run, 2)
    panel = browser.get(f"{here}verify/", headers=FRAGMENT).content.decode()
    assert "Ledger broken at entry 2" in panel
    assert "its payload was changed" in panel
    assert "Entry 1 holds; from entry 2 on nothing is proven." in panel
    assert "keep a copy" in panel


def test_the_whole_ledger_is_verified_in_the_background(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    browser = open_browser(bob.user)
    here = f"/p/{project.slug}/ledger/"
    assert "Not checked yet" in browser.get(here).content.decode()

    assert browser.post(f"{here}verify/").headers["Location"] == here
    waiting = browser.get(here).content.decode()
    assert "About to be checked" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    perform_verifications()
    whole = browser.get(here).content.decode()
    assert "Ledger whole" in whole
    assert f"started by {bob.user.display_name}" in whole
    assert "every 1s" not in whole
    page = browser.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    assert "Whole at the last check" in page

    break_entry(run, 1)
    browser.post(f"{here}verify/")
    perform_verifications()
    broken = browser.get(here).content.decode()
    assert "Ledger broken" in broken
    assert f"/runs/{run}/" in broken
    assert "Nothing of it holds" in broken
    page = browser.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    assert "Ledger broken at entry 1" in page
    assert ProjectVerification.objects.filter(project=project).count() == 2


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (
            {"broken": 2, "named": [{"run": "x", "seq": 1, "reason": "y"}]},
            "more runs are broken than the 1 it names",
        ),
        ({"missing": ["Position 7 is missing."]}, "some entries are missing"),
    ],
)
def test_a_run_is_not_called_whole_where_faults_have_no_run(
    project: Project,
    bob: Person,
    agent: httpx.Client,
    result: dict[str, Any],
    words: str,
) -> None:
    run = start_run(agent)
    at = timezone.now()
    ProjectVerification.objects.create(
        project=project,
        state="finished",
        result=json.dumps(result),
        started_at=at,
        ended_at=at,
    )
    here = f"/p/{project.slug}/runs/{run}/"
    page = open_browser(bob.user).get(here).content.decode()
    assert "The last check found faults" in page
    assert words in page
    assert "Whole at the last check" not in page


def test_exports_are_listed_and_the_commands_name_the_run(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    browser = open_browser(bob.user)
    here = f"/p/{project.slug}/ledger/"
    assert "Nothing was exported yet" in browser.get(here).content.decode()
    assert agent.get(f"/runs/{run}/ledger").status_code == 200
    head = Run.objects.get(code=run)

    page = browser.get(f"{here}?run={run}").content.decode()

    assert f"1 entry up to <code>{head.head_hash[:4]}…" in page
    assert ">owner<" in page or "robo" in page
    assert f"/api/v1/runs/{run}/ledger &gt; run.ndjson" in page
    assert f"--head 1:{head.head_hash}" in page
    assert LedgerExport.objects.get(project=project).head_seq == 1
    assert browser.get(f"{here}?run=nothing").status_code == 404
