"""The judge against models of both formats: only a clean, complete yes is a pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test.utils import override_settings

from gateway.llm.client import OFF
from gateway.llm.judge import RATIONALE_LIMIT, WORK_LIMIT, Judged, judge
from tests.gateway.llm.models import (
    FORMATS,
    Asked,
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
from tests.support.rows import each_row

CRITERIA = ["Every function has a test.", "No secret stands in the code."]
WORK = "def add(a, b):\n    return a + b\n"

pytestmark = pytest.mark.parametrize("wire", FORMATS)


async def test_a_pass(wire: str) -> None:
    async with model(wire, judges(wire, met=CRITERIA)):
        judgement = await judge(criteria=CRITERIA, output=WORK)

    assert judgement.passed
    assert judgement.criteria == (Judged(passed=True, rationale="Seen."),) * 2
    assert judgement.trouble is judgement.suspicion is None
    assert judgement.model == "stand-in-1"
    assert judgement.spent is not None
    assert judgement.spent.cost_micros == 320
    assert judgement.duration_s is not None


async def test_a_fail_in_the_order_of_the_criteria(wire: str) -> None:
    # Many times: the control criterion stands at another place each time.
    async with model(wire, judges(wire, met=CRITERIA[1:])):
        for _ in range(12):
            judgement = await judge(criteria=CRITERIA, output=WORK)
            assert [one.passed for one in judgement.criteria] == [False, True]
            assert judgement.trouble is judgement.suspicion is None
            assert not judgement.passed


async def test_the_order_of_an_answer_does_not_matter(wire: str) -> None:
    def backwards(asked: Asked) -> str:
        found = json.loads(answer(c in CRITERIA for c in asked.criteria))
        return json.dumps({"criteria": found["criteria"][::-1]})

    async with model(wire, replies(wire, backwards)):
        assert (await judge(criteria=CRITERIA, output=WORK)).passed


async def test_the_judge_sees_the_work_the_criteria_and_nothing_else(wire: str) -> None:
    async with model(wire, judges(wire, met=CRITERIA)) as stand_in:
        await judge(criteria=CRITERIA, output=WORK)
    (asked,) = stand_in.asked
    own = [criterion for criterion in asked.criteria if criterion in CRITERIA]
    (control,) = [one for one in asked.criteria if one not in CRITERIA]

    assert own == CRITERIA
    assert control.startswith("The text ")
    assert WORK in asked.user
    assert "instruction" in asked.system


def passing(change: Any) -> Any:
    """An answer that would pass but for this change to its entries."""

    def reply(asked: Asked) -> str:
        document = json.loads(answer(c in CRITERIA for c in asked.criteria))
        change(document)
        return json.dumps(document)

    return reply


def _duplicate(document: Any) -> None:
    document["criteria"].append(document["criteria"][0])


def _twice(document: Any) -> None:
    document["criteria"][0]["index"] = 2


def _from_zero(document: Any) -> None:
    for entry in document["criteria"]:
        entry["index"] -= 1


INCOMPLETE = "the answer does not name every criterion exactly once"
FORM = "the answer has another form, at "


CHANGES: dict[str, tuple[Any, str]] = {
    "a criterion missing": (lambda d: d["criteria"].pop(), INCOMPLETE),
    "all missing": (lambda d: d["criteria"].clear(), INCOMPLETE),
    "one entry more": (_duplicate, INCOMPLETE),
    "one index twice": (_twice, INCOMPLETE),
    "counted from zero": (_from_zero, INCOMPLETE),
    "an overall word": (lambda d: d.update(overall="PASS"), FORM),
    "a field more": (lambda d: d["criteria"][0].update(confidence=1), FORM),
    "no rationale": (lambda d: d["criteria"][0].pop("rationale"), FORM),
    "passed as a word": (lambda d: d["criteria"][0].update(passed="true"), FORM),
    "passed as a number": (lambda d: d["criteria"][0].update(passed=1), FORM),
    "an index that is none": (lambda d: d["criteria"][0].update(index=True), FORM),
    "a blank": (lambda d: d["criteria"][0].update(rationale=" "), "gives no reason"),
}


@each_row("name", CHANGES)
async def test_an_answer_that_is_not_whole_is_trouble(wire: str, name: str) -> None:
    change, reason = CHANGES[name]
    async with model(wire, replies(wire, passing(change))):
        judgement = await judge(criteria=CRITERIA, output=WORK)

    assert judgement.trouble is not None
    assert reason in judgement.trouble
    assert judgement.criteria == ()
    assert not judgement.passed
    assert judgement.spent is not None


YES = answer([True] * 3)
TROUBLE: dict[str, tuple[Callable[[str], Behaviour], str]] = {
    "prose": (lambda w: says(w, "All passed."), "cannot be read: not JSON"),
    "prose before": (lambda w: says(w, f"Sure! {YES}"), "cannot be read: not JSON"),
    "prose after": (lambda w: says(w, f"{YES} Done."), "cannot be read: not JSON"),
    "a fence": (lambda w: says(w, f"```\n{YES}\n```"), "cannot be read: not JSON"),
    "half of it": (lambda w: says(w, YES[:-3]), "the text breaks off"),
    "two keys": (lambda w: says(w, '{"criteria":[],"criteria":[]}'), "stands twice"),
    "refusal": (lambda w: http(refusal(w)), "the model refused to answer"),
    "length": (lambda w: http(cut_off(w, YES)), "the answer was cut off"),
    "401": (lambda w: http(b"{}", status=401), "the server answered 401"),
    "500 twice": (lambda w: http(b"{}", status=500), "the server answered 500"),
    "redirect": (lambda w: http(status=302, location="/"), "redirects are refused"),
    "kind": (lambda w: http(b"{}", kind="text/plain"), "is not application/json"),
    "1 MB": (lambda w: says(w, "x" * 1_000_000), "is longer than 65,536 bytes"),
    "hangs up": (lambda w: hangs_up, "the connection failed"),
    "breaks off": (lambda w: breaks_off, "the connection failed"),
}


@each_row("name", TROUBLE)
async def test_trouble_is_never_a_pass(wire: str, name: str) -> None:
    behaviour, reason = TROUBLE[name]
    async with model(wire, behaviour(wire)):
        judgement = await judge(criteria=CRITERIA, output=WORK)

    assert judgement.trouble is not None
    assert reason in judgement.trouble
    assert judgement.criteria == ()
    assert not judgement.passed


@each_row("behaviour", [hangs, drips])
async def test_too_late_is_never_a_pass(wire: str, behaviour: Behaviour) -> None:
    async with model(wire, behaviour, timeout_s=1.5):
        judgement = await judge(criteria=CRITERIA, output=WORK)

    assert judgement.trouble == "no answer within 1.5 s"
    assert not judgement.passed


async def test_busy_and_then_a_pass(wire: str) -> None:
    busy = http(status=429, retry_after="0")
    async with model(wire, busy, judges(wire, met=CRITERIA)):
        assert (await judge(criteria=CRITERIA, output=WORK)).passed


async def test_what_cannot_be_judged_is_not_sent(
    wire: str, subtests: pytest.Subtests
) -> None:
    unfit: dict[str, dict[str, Any]] = {
        "no criterion": {"criteria": [], "output": WORK},
        "more than 50": {"criteria": ["x"] * 51, "output": WORK},
        "longer than 2,000": {"criteria": ["x" * 2_001], "output": WORK},
        "too long to judge": {"criteria": ["x"], "output": "é" * (WORK_LIMIT // 2 + 1)},
        "half of a surrogate pair": {"criteria": ["x"], "output": "\ud800"},
        "half of a surrogate": {"criteria": ["\ud800"], "output": "x"},
    }
    for words, case in unfit.items():
        with subtests.test(words):
            async with model(wire, judges(wire, met=["x"])) as stand_in:
                judgement = await judge(**case)
            assert judgement.trouble is not None
            assert words in judgement.trouble
            assert not judgement.passed
            assert stand_in.asked == []


async def test_the_longest_work_is_judged(wire: str) -> None:
    async with model(wire, judges(wire, met=CRITERIA)):
        assert (await judge(criteria=CRITERIA, output="y" * WORK_LIMIT)).passed


async def test_without_a_model_nothing_passes(wire: str) -> None:
    with override_settings(LLM=None):
        judgement = await judge(criteria=CRITERIA, output=WORK)

    assert judgement.trouble == OFF
    assert not judgement.passed


async def test_secrets_are_neither_sent_nor_kept(wire: str) -> None:
    secret = "AKIAIOSFODNN7EXAMPLQ"
    rationale = f"It holds\n{secret}.\n" + "very " * 500
    async with model(wire, judges(wire, met=[], rationale=rationale)) as stand_in:
        judgement = await judge(criteria=[f"Not {secret}"], output=f"key = {secret}")

    assert secret not in json.dumps(stand_in.asked[0].body)
    (judged,) = judgement.criteria
    assert secret not in judged.rationale
    assert "\n" not in judged.rationale
    assert len(judged.rationale) <= RATIONALE_LIMIT
