"""The demo's stand-in for a model looks at the calls of a demo agent, and at nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from django.test.utils import override_settings

from accounts.models import Project
from demo.agents.profiles.calls import JANITOR
from demo.model import DemoModel
from demo.policies import assign_demo_policies
from reviews.policies.selectors import find_document_in_force
from tests.gateway.calls.calls import ask
from tests.support.builders import make_policy, make_robot, start_run

pytestmark = pytest.mark.once("talks to a model; what is stored is tested elsewhere")


@pytest.fixture
def model() -> Iterator[str]:
    """Its address."""
    stand_in = DemoModel()
    chosen = stand_in.start()
    with override_settings(LLM=chosen):
        yield str(chosen["url"])
    stand_in.stop()


def test_it_settles_the_clear_calls_and_leaves_the_rest_to_people(
    model: str, project: Project, agent: httpx.Client
) -> None:
    for name in ("upgrade-lead", JANITOR.name):
        make_robot(name, project=project)
    assign_demo_policies(project)
    tools = dict(find_document_in_force(project, "cleaning")["tools"])
    tools["first_look"] = {**tools["first_look"], "blind_share": 0}
    make_policy("cleaning-watched", project=project, tools=tools)
    run = start_run(agent, policy="cleaning-watched")
    assert JANITOR.trouble is not None

    judged = [ask(agent, run, **call.body) for call in JANITOR.trouble.calls]

    assert [each["decision"] for each in judged] == [
        "block",
        "require-confirmation",
        "allow",
    ]
    assert "not expired" in judged[0]["findings"][-1]["message"]
    assert "pulled again" in judged[2]["findings"][-1]["message"]


def test_it_answers_no_other_question(model: str) -> None:
    asked = {"messages": [{"role": "user", "content": "Is this work good?"}]}
    answer = httpx.post(model, json=asked, trust_env=False)
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "The demo only looks at calls."
