"""What docs/gates.md and the gates and turns of docs/api.md say is what the code does."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

import httpx
import pytest
import yaml
from django.test.utils import override_settings

from accounts.models import Project
from gateway.llm.judge import WORK_LIMIT
from guidance.core.checks import FORMS, MAX_RESETS, GateDefinition, Retry
from guidance.core.checks.definition_reader import CRITERIA_LIMIT
from guidance.core.checks.definitions import ATTEMPTS_LIMIT, MODE_OF_SEVERITY
from guidance.core.checks.verdicts import RATIONALE_LIMIT
from guidance.core.outcomes import EVALUATORS
from guidance.core.policy import load_policy
from guidance.core.settings import list_settings
from guidance.core.steps.gates import REGISTRY
from guidance.core.turns.judge_turn import ACTIONS, TurnSignals
from guidance.core.turns.section import TurnRules
from reviews.models import RULINGS, Kind
from tests.docs.markdown import ROOT, blocks, code, read_page, table_under
from tests.docs.test_tools_page import requests
from tests.gateway.checks.test_flows import open_new_check
from tests.guidance.core.policy.dumps import dump_part
from tests.support.builders import make_policy, start_run, step

GATES, API = read_page("docs/gates.md"), read_page("docs/api.md")
GATE_EXAMPLE, END_EXAMPLE, TURN_EXAMPLE = map(
    yaml.safe_load, blocks(GATES, language="yaml")
)


def column(text: str, first: str) -> list[str]:
    return [code(row[0]) for row in table_under(text, first_column=first)]


def test_every_check_of_the_continue_gate_is_listed() -> None:
    assert column(GATES, "gate") == list(REGISTRY)


def test_every_evaluator_is_listed_with_its_settings() -> None:
    assert column(GATES, "evaluator") == list(EVALUATORS)
    rows = {
        code(key): text
        for key, text in table_under(GATES, first_column="evaluators key")
    }
    settings = dump_part(load_policy({}).evaluators)
    assert list(rows) == list(settings)
    for key, values in settings.items():
        for name in values:
            assert f"`{name}`" in rows[key]
    assert load_policy(END_EXAMPLE).evaluators.tests_pass.fails_run is False


def test_every_key_of_a_gate_is_listed() -> None:
    known = {field.name for field in fields(GateDefinition)} - {"slug"}
    assert set(column(GATES, "key")) == known
    (retry,) = (row[1] for row in table_under(GATES, first_column="key")[-1:])
    for field in fields(Retry):
        assert f"`{field.name}`" in retry


def test_every_severity_is_listed_with_its_mode() -> None:
    rows = table_under(GATES, first_column="severity")
    assert {code(row[0]): code(row[1]) for row in rows} == dict(MODE_OF_SEVERITY)


def test_every_default_gate_is_listed_with_its_mode() -> None:
    default = (ROOT / "guidance/policies/default.yaml").read_text()
    policy = load_policy(yaml.safe_load(default))
    rows = table_under(GATES, first_column="default gate")
    assert [(code(row[0]), code(row[1])) for row in rows] == [
        (gate.slug, gate.mode) for gate in policy.gates.values()
    ]


def test_the_forms_are_the_accepted_ones() -> None:
    (listed,) = blocks(GATES, language="text")
    assert tuple(listed.splitlines()) == FORMS


def test_every_choice_is_listed() -> None:
    assert tuple(column(GATES, "choice")) == RULINGS[Kind.EXHAUSTED]


def test_every_signal_is_listed_with_its_points() -> None:
    rows = table_under(GATES, first_column="signal")
    signals = list(dict.fromkeys(code(row[0]) for row in rows))
    assert signals == [field.name for field in fields(TurnSignals)]
    assert [int(row[1]) for row in rows] == [30, 15, 25, 25, 10, 10]


def test_every_key_of_turns_is_listed() -> None:
    assert column(GATES, "turns key") == [key for _, key, _ in list_settings(TurnRules)]


def test_the_figures_are_the_real_ones() -> None:
    rules = TurnRules()
    for figure in (
        f"`threshold` ({rules.threshold})",
        f"`warn_from` ({rules.warn_from})",
        f"`max_retries` ({rules.max_retries})",
        f"`checks.max_resets` times ({MAX_RESETS})",
        f"1 to {ATTEMPTS_LIMIT}; {Retry().max_attempts} if left out",
        f"up to {CRITERIA_LIMIT}, each one line",
        f"{RATIONALE_LIMIT:,} characters",
        f"{WORK_LIMIT // 1024} KiB",
    ):
        assert figure in " ".join(GATES.split())


def test_every_outcome_and_action_is_listed() -> None:
    assert column(API, "`outcome`") == [
        *("passed", "retry", "warned", "logged", "exhausted")
    ]
    assert tuple(column(API, "`action`")) == ACTIONS


def test_the_gate_of_the_page_is_one(agent: httpx.Client, project: Project) -> None:
    """Its verdict proves the command; without a judge the rest stays unproven."""
    make_policy("page", project=project, **GATE_EXAMPLE)
    run = start_run(agent, policy="page")
    check = open_new_check(agent, run, "unit-tests", step=0)
    assert (check["enforcement_mode"], check["max_attempts"]) == ("blocking", 3)
    (example,) = blocks(GATES, language="json")
    path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
    with override_settings(LLM=None):
        told = agent.post(path, json=json.loads(example)).json()
    assert (told["outcome"], told["unproven"]) == ("retry", ["unit-tests.3"])
    assert "no judge is configured" in told["prompt"]


def test_the_policy_of_the_page_is_one() -> None:
    policy = load_policy(TURN_EXAMPLE)
    assert policy.checks.max_resets == 1
    assert policy.turns.get_for_model("small-2").threshold == 50
    assert policy.turns.get_for_model("large-2").threshold == 70


@pytest.fixture
def run(agent: httpx.Client) -> str:
    code = start_run(agent)
    steps = [step(number) for number in range(1, 8)]
    agent.post(f"/runs/{code}/steps/batch", json={"steps": steps})
    return code


def bodies(ending: str) -> list[dict[str, Any]]:
    return [body for path, body in requests(API) if path.endswith(ending)]


def test_the_check_of_the_api_page_can_be_gone_through(
    agent: httpx.Client, run: str
) -> None:
    (opening,) = bodies("/gate-checks")
    answer = agent.post(f"/runs/{run}/gate-checks", json=opening)
    assert answer.status_code == 201, answer.text
    check = answer.json()
    assert {"enforcement_mode", "attempt", "max_attempts", "prompt"} <= set(check)
    path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
    told = [agent.post(path, json=body) for body in bodies("/verdicts")]
    assert [answer.json()["outcome"] for answer in told] == ["retry", "exhausted"]
    named = re.findall(r"`(attempts_left|hints|previous_feedback|unproven)`", API)
    assert set(named) <= set(told[0].json())


def test_the_turn_of_the_api_page_is_sent_on(agent: httpx.Client, run: str) -> None:
    (body,) = bodies("/runs/{run}/turns")
    answer = agent.post(f"/runs/{run}/turns", json=body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["action"] == "auto_continue"


def test_what_needs_no_run_is_judged(agent: httpx.Client) -> None:
    (turn,), (verdict,) = bodies("/evaluate/turn"), bodies("/evaluate/verdict")
    assert agent.post("/evaluate/turn", json=turn).json()["score"] == 70
    assert agent.post("/evaluate/verdict", json=verdict).json()["overall"] == "FAIL"
