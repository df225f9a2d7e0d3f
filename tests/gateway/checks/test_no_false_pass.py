"""Nothing that a model writes turns a FAIL into a PASS: properties, at the door.

How texts are read is held in tests/guidance/core/checks; here the whole way of a verdict is, with
the schema before the reading and the redaction after it.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from common.errors import Invalid
from gateway.schemas.checks import VerdictIn
from gateway.use_cases.checks.verdicts import parse_verdict
from guidance.core.checks import Verdict, apply_verdict, combine, open_check, read_gate
from tests.gateway.checks.test_flows import open_new_check
from tests.guidance.core.checks.test_properties import (
    LOUD,
    QUIET,
    breaks,
    fails,
    mix_texts,
    rationales,
)
from tests.support.builders import start_run
from tests.support.examples import ALL, FRESH, examples
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once("judges what models write, not how it is stored")

GATES = combine(
    read_gate({"id": f"gate-{number}", "mode": "blocking"}) for number in range(3)
)
# What a redactor swallows must not swallow a FAIL with it.
SWALLOWED = (
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "\n-----BEGIN RSA PRIVATE KEY-----\n",
    "\n-----END RSA PRIVATE KEY-----\n",
    'password = "',
    "Authorization: Bearer ",
    "AKIAIOSFODNN7EXAMPLQ",
    "https://user:",
    "@example.com/",
)
noise = mix_texts(QUIET + LOUD + SWALLOWED)
fail_texts = st.builds(
    lambda before, one, fail, two, after: f"{before}{one}{fail}{two}{after}",
    noise,
    breaks,
    fails,
    breaks,
    noise,
)
KEY_BLOCK = (
    "-----BEGIN PRIVATE KEY-----\nGATE_REVIEW: FAIL - no\n-----END PRIVATE KEY-----\n"
    "GATE_REVIEW: PASS - ok"
)
entries = st.builds(
    lambda index, passed, rationale: {
        "index": index,
        "passed": passed,
        "rationale": rationale,
    },
    st.integers(1, 3),
    st.booleans(),
    rationales,
)
thoroughly = examples(500)
over_http = settings(
    derandomize=not FRESH,
    max_examples=400 if ALL else 40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def outcome(body: dict[str, Any]) -> str:
    """What a blocking check makes of this body."""
    try:
        verdict = parse_verdict(VerdictIn(**body), gates=GATES)
    except Invalid:
        return "refused"
    return apply_verdict(open_check(GATES), verdict, gates=GATES).word


@thoroughly
@given(fail_texts)
@example(KEY_BLOCK)
def test_no_text_around_a_fail_passes(text: str) -> None:
    assert outcome({"text": text}) in {"retry", "refused"}


@thoroughly
@given(noise, st.sampled_from(["GATE_REVIEW: PASS - ok", "PASS - ok"]), fails, noise)
def test_no_pass_before_or_behind_a_fail_passes(
    before: str, claimed: str, fail: str, after: str
) -> None:
    assert outcome({"text": f"{claimed}\n{before}\n{fail}\n{after}"}) != "passed"
    assert outcome({"text": f"{before}\n{fail}\n{after}\n{claimed}"}) != "passed"


@thoroughly
@given(rationales, st.lists(entries, min_size=1, max_size=4))
def test_an_object_passes_only_without_a_failing_entry(
    rationale: str, per_gate: list[dict[str, Any]]
) -> None:
    body = {"overall": "PASS", "rationale": rationale, "per_gate": per_gate}
    word = outcome(body)
    if word == "passed":
        assert all(entry["passed"] for entry in per_gate)
    if not all(entry["passed"] for entry in per_gate):
        assert word == "refused"
    assert outcome({**body, "overall": "FAIL"}) != "passed"


@thoroughly
@given(rationales, fail_texts)
def test_an_object_beside_a_text_is_refused(rationale: str, text: str) -> None:
    body = {"overall": "PASS", "rationale": rationale, "text": text}
    assert outcome(body) == "refused"


@thoroughly
@given(rationales)
def test_an_honest_pass_passes(rationale: str) -> None:
    """Else all of the above would hold for a door that is always shut."""
    assert outcome({"overall": "PASS", "rationale": rationale}) == "passed"


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


def send_verdict(agent: httpx.Client, run: str, body: dict[str, Any]) -> httpx.Response:
    """A new check each time, so that no verdict depends on another."""
    inline = [gate.to_json() | {"retry": {"max_attempts": 20}} for gate in GATES.gates]
    check = open_new_check(agent, run, step=0, inline=inline)
    return agent.post(f"/runs/{run}/gate-checks/{check['id']}/verdicts", json=body)


@over_http
@given(fail_texts)
@example(KEY_BLOCK)
def test_no_text_around_a_fail_passes_over_http(
    agent: httpx.Client, run: str, text: str
) -> None:
    answer = send_verdict(agent, run, {"text": text})
    assert answer.status_code in {200, 400, 422}, answer.text
    if answer.status_code == 200:
        assert answer.json()["outcome"] == "retry"
    read = agent.post("/evaluate/verdict", json={"text": text})
    assert read.status_code != 200 or read.json()["overall"] == "FAIL"


@over_http
@given(rationales, st.lists(entries, min_size=1, max_size=3), st.integers(1, 3))
def test_pass_with_a_failing_entry_is_refused_over_http(
    agent: httpx.Client,
    run: str,
    rationale: str,
    others: list[dict[str, Any]],
    index: int,
) -> None:
    failing = {"index": index, "passed": False, "rationale": "No"}
    body = {
        "overall": "PASS",
        "rationale": rationale,
        "per_gate": [*others, failing],
    }
    refusal = problem(send_verdict(agent, run, body), "invalid")
    assert f"per_gate.{len(others)}.passed" in fields(refusal)


def test_what_was_said_is_kept_without_its_secrets() -> None:
    """The reading comes first, so that no label stands where a verdict stood."""
    secret = "AKIAIOSFODNN7EXAMPLQ"
    per_gate = [{"index": 1, "passed": False, "rationale": f"It holds {secret}"}]
    body = {"overall": "FAIL", "rationale": f"{secret} is in it", "per_gate": per_gate}
    for given_ in (body, {"text": f"GATE_REVIEW: FAIL - {secret} is in it"}):
        verdict = parse_verdict(VerdictIn(**given_), gates=GATES)
        assert isinstance(verdict, Verdict)
        assert secret not in str(verdict)
        assert verdict.rationale.endswith(" is in it")
