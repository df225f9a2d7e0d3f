"""An agent that praises itself while its calls fail: what was seen counts."""

from __future__ import annotations

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from gateway.transitions import apply_counted_step, report_to_json
from guidance.core.runs.facts import StepReport
from guidance.core.runs.memory import CallTally, Memory
from tests.gateway.calls.calls import command, settle
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run, step
from tests.support.run_states import build_run

pytestmark = pytest.mark.once("judges steps, not SQL")


def test_no_praise_hides_calls_that_failed(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    praise = {"coherence": 1.0, "uncertainty": 0.0, "confidences": [1.0]}
    for number in range(1, 6):
        for _ in range(2):
            settle(agent, run, command(agent, run, "make test"), ok=False)
        body = step(number, tool_calls=2, failed_calls=0, **praise)
        answer = agent.post(f"/runs/{run}/steps", json=body).json()

    assert answer["decision"] == "pause"
    metrics = answer["metrics"]
    assert (metrics["uncertainty"], metrics["uncertainty_source"]) == (1.0, "computed")
    assert (metrics["uncertainty_reported"], metrics["uncertainty_computed"]) == (0, 1)
    assert (metrics["coherence_reported"], metrics["coherence_computed"]) == (1, 1)
    both = "the agent says 0.00, we see 1.00"
    assert both in answer["findings"][0]["message"]
    browser = open_browser(alice.user)
    review = answer["review"]["id"]
    queue = browser.get(f"/p/{project.slug}/queue/{review}/").content.decode()
    assert "says 0.00, we see 1.00" in queue
    page = browser.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    assert both in page
    call_command("replay", run=run)
    call_command("ledger_verify", run=run)


@pytest.mark.parametrize(("engine", "failed"), [(1, 0), (2, 3)])
def test_a_step_of_the_first_version_is_remembered_as_it_was(
    engine: int, failed: int
) -> None:
    """What was judged after it was judged on what the run remembered then."""
    calls = CallTally(granted=4, settled=4, failed=3)
    report = StepReport(number=1, tokens=1, tool_calls=4, failed_calls=0)
    payload = {
        "report": report_to_json(report),
        "verdict": {"decision": "continue", "findings": []},
        "engine": engine,
    }
    run = build_run(memory=Memory(calls=calls))
    after = apply_counted_step(run, payload, run.updated_at, kept=20)
    assert [each.failed_calls for each in after.memory.trace] == [failed]
