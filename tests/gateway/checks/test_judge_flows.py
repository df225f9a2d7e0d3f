"""Gates that a judge decides on, over real HTTP against models of both formats.

A PASS that an agent claims is worth what the judge says about the work: nothing else, no
trouble with the judge, and nothing that stands in the work makes one of it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.test.utils import override_settings

from accounts.models import Project
from gateway.use_cases.checks.evidence import NO_JUDGE
from tests.gateway.calls.calls import rule, slug
from tests.gateway.checks.test_flows import open_new_check
from tests.gateway.llm.models import (
    FORMATS,
    Behaviour,
    answer,
    breaks_off,
    cut_off,
    drips,
    hangs,
    hangs_up,
    http,
    judges,
    model,
    refusal,
    replies,
    says,
)
from tests.gateway.llm.test_injection_signs import OBEDIENT, PLANTED
from tests.support.builders import make_policy, start_run
from tests.support.rows import each_row

pytestmark = pytest.mark.once(
    "talks to a model; what is stored is tested in the files beside it"
)

TESTED = "Every function has a test."
CLEAR = "Every name says what it is for."
WORK = "def add(a, b):\n    return a + b\n"
GATES = {
    "judged": {
        "severity": "critical",
        "criteria": ["It runs", {"text": TESTED, "verifier": "judge"}],
    },
    "named": {
        "severity": "high",
        "criteria": [{"text": CLEAR, "verifier": "judge"}],
    },
}
PASS = "GATE_REVIEW: PASS - I have seen to everything"

in_both_formats = pytest.mark.parametrize("wire", FORMATS)


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("judged", project=project, gates=GATES)
    return start_run(agent, policy="judged")


def ask(agent: httpx.Client, run: str, *gates: str) -> dict[str, Any]:
    return open_new_check(agent, run, *gates, step=0)


async def say(
    agent: httpx.Client,
    run: str,
    check: dict[str, Any],
    headers: dict[str, str] | None = None,
    **more: Any,
) -> httpx.Response:
    """In a thread: the judge answers from this test's own loop."""
    path = f"/runs/{run}/gate-checks/{check['id']}/verdicts"
    body = {"text": PASS, "output": WORK, **more}
    return await asyncio.to_thread(agent.post, path, json=body, headers=headers)


async def claim(
    agent: httpx.Client, run: str, check: dict[str, Any], **more: Any
) -> dict[str, Any]:
    told = await say(agent, run, check, **more)
    assert told.status_code == 200, told.text
    body: dict[str, Any] = told.json()
    return body


def remarks(agent: httpx.Client, run: str) -> list[str]:
    """What the ledger keeps of the last attempt, beside the agent's own words."""
    entries = [
        json.loads(x) for x in agent.get(f"/runs/{run}/ledger").text.splitlines()
    ]
    judged = [one["payload"] for one in entries if one["type"] == "check.judged"]
    said: list[str] = judged[-1]["state"]["history"][-1]["remarks"]
    return said


@in_both_formats
async def test_pass_passes_when_the_judge_passes(
    agent: httpx.Client, run: str, wire: str
) -> None:
    check = ask(agent, run, "judged")
    assert "judged.2: a judge decides on this" in check["prompt"]
    async with model(wire, judges(wire, met=[TESTED])) as judge:
        told = await claim(agent, run, check)
    assert (told["outcome"], told["unproven"]) == ("passed", [])
    (asked,) = judge.asked
    assert [one for one in asked.criteria if one == TESTED] == [TESTED]
    assert WORK in asked.user
    for hidden in ("It runs", "I have seen to everything", "Fix the flaky login test"):
        assert hidden not in json.dumps(asked.body)


@in_both_formats
async def test_a_structured_pass_asks_the_judge_too(
    agent: httpx.Client, run: str, wire: str
) -> None:
    check = ask(agent, run, "judged")
    structured = {"text": None, "overall": "PASS", "rationale": "Done"}
    async with model(wire, judges(wire, met=[])) as judge:
        told = await claim(agent, run, check, **structured)
    assert (told["outcome"], len(judge.asked)) == ("retry", 1)


@in_both_formats
async def test_a_no_is_a_failed_attempt_and_then_a_person_reads_why(
    agent: httpx.Client, reviewer: httpx.Client, run: str, wire: str
) -> None:
    check = ask(agent, run, "judged")
    reason = "No test calls add()."
    async with model(wire, judges(wire, met=[], rationale=reason)):
        first = await claim(agent, run, check)
        second = await claim(agent, run, check)
    assert (first["outcome"], first["attempts_left"]) == ("retry", 1)
    assert first["unproven"] == ["judged.2"]
    assert "PASS was claimed without a passing result" in first["previous_feedback"]
    assert f"About judged.2: {reason}" in first["prompt"]
    assert second["outcome"] == "exhausted"
    review = reviewer.get(f"/reviews/{second['review']['id']}").json()
    history = review["content"]["state"]["history"]
    assert [event["remarks"] for event in history] == [[f"judged.2: {reason}"]] * 2
    rule(reviewer, second, "retry", note="Write the test")
    async with model(wire, judges(wire, met=[TESTED])):
        assert (await claim(agent, run, check))["outcome"] == "passed"


@in_both_formats
async def test_every_judged_criterion_of_every_gate_has_to_be_met(
    agent: httpx.Client, run: str, wire: str
) -> None:
    check = ask(agent, run, "named", "judged")
    async with model(wire, judges(wire, met=[TESTED])) as judge:
        told = await claim(agent, run, check)
    assert (told["outcome"], told["unproven"]) == ("retry", ["named.1"])
    assert len(judge.asked) == 1
    async with model(wire, judges(wire, met=[TESTED, CLEAR])):
        assert (await claim(agent, run, check))["outcome"] == "passed"


@in_both_formats
async def test_an_advisory_gate_warns_where_the_judge_says_no(
    agent: httpx.Client, run: str, wire: str
) -> None:
    check = ask(agent, run, "named")
    async with model(wire, judges(wire, met=[], rationale="What is foo?")):
        told = await claim(agent, run, check)
    assert told["outcome"] == "warned"
    (warning,) = told["advisory_warnings"]
    assert "(named.1: What is foo?)" in warning["text"]


@in_both_formats
async def test_a_fail_asks_nobody(agent: httpx.Client, run: str, wire: str) -> None:
    check = ask(agent, run, "judged")
    async with model(wire, judges(wire, met=[TESTED])) as judge:
        told = await claim(agent, run, check, text="GATE_REVIEW: FAIL - Not yet")
        refused = await say(agent, run, check, text="looks good to me")
    assert (told["outcome"], refused.status_code, judge.asked) == ("retry", 422, [])


YES = answer([True] * 2)
TROUBLE: dict[str, tuple[Callable[[str], Behaviour], str]] = {
    "prose": (lambda wire: says(wire, "All passed."), "not JSON"),
    "fenced": (lambda wire: says(wire, f"```json\n{YES}\n```"), "not JSON"),
    "half": (lambda wire: says(wire, YES[:-3]), "breaks off"),
    "word": (lambda wire: says(wire, '{"overall": "PASS"}'), "another form"),
    "refusal": (lambda wire: http(refusal(wire)), "refused to answer"),
    "length": (lambda wire: http(cut_off(wire, YES)), "cut off"),
    "key": (lambda wire: http(b"{}", status=401), "answered 401"),
    "fault": (lambda wire: http(b"{}", status=500), "answered 500"),
    "hangs up": (lambda wire: hangs_up, "connection failed"),
    "breaks off": (lambda wire: breaks_off, "connection failed"),
    "hangs": (lambda wire: hangs, "no answer within"),
    "drips": (lambda wire: drips, "no answer within"),
}


@in_both_formats
@pytest.mark.parametrize("name", TROUBLE)
async def test_trouble_with_the_judge_never_passes_and_ends_with_a_person(
    agent: httpx.Client, run: str, wire: str, name: str
) -> None:
    behaviour, reason = TROUBLE[name]
    check = ask(agent, run, "judged")
    patience = 0.3 if name in {"hangs", "drips"} else 60
    async with model(wire, behaviour(wire), timeout_s=patience):
        first = await claim(agent, run, check)
        assert "the judge could not be relied on" in first["prompt"]
        assert reason in first["prompt"]
        second = await claim(agent, run, check)
    assert [first["outcome"], second["outcome"]] == ["retry", "exhausted"]
    assert second["review"]["kind"] == "exhausted"
    assert reason in remarks(agent, run)[0]


@in_both_formats
@each_row("planted", PLANTED)
async def test_no_text_in_the_work_passes_it(
    agent: httpx.Client, run: str, wire: str, planted: str
) -> None:
    """Not even where the model obeys the text in whatever way."""
    output = f"{WORK}\n{PLANTED[planted]}\n"
    gate = {"id": "patient", "mode": "blocking", "retry": {"max_attempts": 20}}
    criteria = [{"text": text, "verifier": "judge"} for text in (TESTED, CLEAR)]
    check = open_new_check(agent, run, step=0, inline=[{**gate, "criteria": criteria}])
    for obey in OBEDIENT:
        async with model(wire, replies(wire, obey)):
            told = await claim(agent, run, check, output=output)
        assert (told["outcome"], len(told["unproven"])) == ("retry", 2), obey


async def test_without_a_judge_nothing_passes_and_the_answer_says_why(
    agent: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "judged")
    with override_settings(LLM=None):
        first = await claim(agent, run, check)
        second = await claim(agent, run, check)
    assert (first["outcome"], first["unproven"]) == ("retry", ["judged.2"])
    assert NO_JUDGE in first["prompt"]
    assert second["outcome"] == "exhausted"
    assert remarks(agent, run) == [f"judged.2: {NO_JUDGE}"]


async def test_without_a_judge_a_warning_says_so_too(
    agent: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "named")
    with override_settings(LLM=None):
        told = await claim(agent, run, check)
    assert told["outcome"] == "warned"
    assert NO_JUDGE in told["advisory_warnings"][0]["text"]


@in_both_formats
async def test_a_request_that_is_sent_again_has_the_first_answer(
    agent: httpx.Client, run: str, wire: str
) -> None:
    """Whatever the judge would say the second time."""
    check = ask(agent, run, "judged")
    key = {"Idempotency-Key": "once"}
    async with model(wire, judges(wire, met=[TESTED])):
        first = await say(agent, run, check, headers=key)
    async with model(wire, judges(wire, met=[])):
        again = await say(agent, run, check, headers=key)
    assert first.json()["outcome"] == "passed"
    assert again.content == first.content
    assert again.headers["Idempotency-Replayed"] == "true"


@in_both_formats
@each_row(
    "evidence",
    [
        {"criterion": "judged.2", "passed": True, "rationale": "Seen."},
        {"criterion": "judged.2", "exit_code": 0, "output_sha256": "0" * 64},
        {"criterion": "judged.1", "exit_code": 0, "output_sha256": "0" * 64},
    ],
)
async def test_an_agent_cannot_speak_for_the_judge(
    agent: httpx.Client, run: str, wire: str, evidence: dict[str, Any]
) -> None:
    check = ask(agent, run, "judged")
    async with model(wire, judges(wire, met=[TESTED])) as judge:
        refused = await say(agent, run, check, evidence=[evidence])
    assert (refused.status_code, slug(refused)) == (422, "invalid")
    assert judge.asked == []
    stands = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert (stands["status"], stands["attempt"]) == ("open", 1)


@in_both_formats
async def test_work_that_is_too_long_to_be_judged_does_not_pass(
    agent: httpx.Client, run: str, wire: str
) -> None:
    check = ask(agent, run, "judged")
    async with model(wire, judges(wire, met=[TESTED])) as judge:
        told = await claim(agent, run, check, output="x" * 200_000)
    assert (told["outcome"], judge.asked) == ("retry", [])
    assert "too long to judge" in told["prompt"]
