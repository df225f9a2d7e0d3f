"""What docs/loop.md says is what the loop does."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import yaml

from accounts.models import Project
from guidance.core.lessons import TEACHINGS
from guidance.core.loop.facts import FIELDS
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.guardrails import judge_proposal
from guidance.core.loop.section import CAPS, LoopSection
from guidance.core.loop.vocabulary import ACTIONS, OUTCOMES, SIGNALS, SOURCES
from guidance.core.settings import list_settings
from loop.control.clock import run_cycle
from loop.schemas.state import SummaryOut
from tests.docs.markdown import blocks, code, read_page, table_under
from tests.docs.test_tools_page import requests
from tests.guidance.core.loop.test_guardrails import MET, REPAIR, SECTION
from tests.guidance.core.policy.dumps import dump_part
from tests.loop.saying import get_decision
from tests.support.builders import make_policy

LOOP = read_page("docs/loop.md")
(EXAMPLE, LEARNING) = map(yaml.safe_load, blocks(LOOP, language="yaml"))
(EVENT,) = map(json.loads, blocks(LOOP, language="json"))


def column(first: str) -> list[str]:
    return [code(row[0]) for row in table_under(LOOP, first_column=first)]


def test_every_word_of_the_loop_is_listed() -> None:
    assert tuple(column("signal")) == SIGNALS
    assert tuple(column("snapshot")) == FIELDS
    assert tuple(column("action")) == ACTIONS
    assert column("loop key") == [key for _, key, _ in list_settings(LoopSection)]
    assert all(f"`{source}`" in LOOP for source in SOURCES)
    assert all(f"`{outcome}`" in LOOP for outcome in OUTCOMES)


def test_every_rail_is_listed_in_its_order_with_its_outcome() -> None:
    listed = {
        code(row[0]): code(row[2]) for row in table_under(LOOP, first_column="rail")
    }
    assert {name: outcome for name, (_, outcome) in MET.items()}.items() <= (
        listed.items()
    )
    assert [name for name in listed if name in MET] == list(MET)
    facts = GuardrailFacts(trouble="x")
    assert judge_proposal(SECTION, REPAIR, facts).outcome == listed["decision"]


def test_the_figures_are_the_real_ones() -> None:
    values = dump_part(LoopSection())
    told = {code(row[0]): row[1] for row in table_under(LOOP, first_column="loop key")}
    for name, value in values.items():
        if isinstance(value, int | str):
            assert re.search(rf"\b{re.escape(str(value))}\b", told[name]), name
    assert all(
        f"`{action}` {cap}" in told["caps_per_hour"]
        for action, (cap, _) in CAPS.items()
    )


def test_the_default_rules_are_listed() -> None:
    rows = table_under(LOOP, first_column="default rule")
    assert [(code(row[0]), code(row[2])) for row in rows] == [
        (rule.name, rule.action) for rule in LoopSection().rules
    ]


def test_the_rules_of_the_page_decide_its_signal(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, **EXAMPLE)
    sent: dict[str, Any] = dict(requests(LOOP))
    answer = agent.post("/loop/signals", json=sent["/loop/signals"])
    assert answer.status_code == 202, answer.text
    assert set(answer.json()) == {"signal", "decision_id"}
    assert (
        agent.get(f"/loop/decisions/{answer.json()['decision_id']}").status_code == 404
    )
    run_cycle(project.pk)
    event = get_decision(agent, answer.json()["decision_id"])["event"]
    assert set(event) == set(EVENT)
    for name in ("type", "action", "kind", "parameters", "reasoning_summary"):
        assert event[name] == EVENT[name]


def test_the_recommendation_of_the_page_can_be_made(agent: httpx.Client) -> None:
    sent: dict[str, Any] = dict(requests(LOOP))
    body = sent["/loop/recommendations"]
    assert agent.post("/loop/recommendations", json=body).status_code == 201


def test_what_is_learned_is_listed_with_its_figures() -> None:
    assert {"loop": {"learn": dump_part(LoopSection().learn)}} == LEARNING
    rows = table_under(LOOP, first_column="subject")
    subjects = [name for row in rows for name in re.findall(r"`([\w-]+)`", row[0])]
    assert set(subjects) == set(TEACHINGS)
    keys = table_under(LOOP, first_column="summary key")
    listed = [name for row in keys for name in re.findall(r"`(\w+)`", row[0])]
    about = {"project", "week", "begins", "ends"}
    assert set(listed) == set(SummaryOut.model_fields) - about
