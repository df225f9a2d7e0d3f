"""A run with a row in every table, for those who edit them."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from ledger.management import selection
from ledger.management.commands import ledger_verify
from ledger.models import Run
from ledger.verification.verify import read_runs
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.gateway.checks.saying import exhaust, judge, open_check
from tests.reviews.permissions.test_exemptions import exempt
from tests.support.builders import (
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
def few_runs(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ledger_verify` and `replay` look at this project alone: other tests have left
    thousands of runs, and their chains would only take time."""
    mine = read_runs().filter(project=project)
    monkeypatch.setattr(selection, "read_runs", mine.all)
    monkeypatch.setattr(ledger_verify, "list_project_ids", lambda: [project.pk])


@pytest.fixture
def run(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
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
    for password in ("Zx81k9", "Zx81k8"):
        blocked = command(agent, code, f"DB_PASSWORD={password} ./build.sh")
        exemption = exempt(manager, blocked).json()
    reviewer.post(f"/exemptions/{exemption['id']}/revoke")
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
