"""Rows VR-22 to VR-34 and VR-41 to VR-43: what verdicts and rulings make of a check."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from guidance.core.checks import (
    MAX_RESETS,
    CheckState,
    GateVerdict,
    JudgeEvidence,
    NotOffered,
    Verdict,
    apply_ruling,
    apply_verdict,
    build_exhaustion_text,
    build_exhaustion_title,
    open_check,
)
from tests.guidance.core.checks.builders import (
    FAIL,
    PASS,
    after,
    check,
    gate,
    open_gate,
    retrying,
)
from tests.support.rows import each_row


def test_vr_22_a_new_check_has_no_attempt_behind_it_and_two_before() -> None:
    _, state = open_gate(severity="critical")
    assert (state.status, state.attempts, state.max_attempts) == ("open", 0, 2)
    assert (state.attempt, state.attempts_left, state.offers) == (1, 2, ())


def test_vr_23_two_of_five_are_not_all() -> None:
    gates = check(retrying(max_attempts=5))
    outcome = after(open_check(gates), FAIL, FAIL, gates=gates)
    assert (outcome.word, outcome.state.status) == ("retry", "open")
    assert (outcome.state.attempt, outcome.state.attempts_left) == (3, 3)


def test_vr_24_three_of_three_are_all() -> None:
    gates = check(retrying(max_attempts=3))
    outcome = after(open_check(gates), FAIL, FAIL, FAIL, gates=gates)
    assert (outcome.word, outcome.state.status) == ("exhausted", "exhausted")
    assert (outcome.state.attempt, outcome.state.attempts_left) == (3, 0)


@pytest.mark.parametrize("mode", ["blocking", "advisory", "informational"])
def test_vr_25_pass_ends_the_check_and_adds_no_attempt(mode: str) -> None:
    gates, state = open_gate(mode=mode)
    outcome = after(state, PASS, gates=gates)
    assert (outcome.word, outcome.state.status) == ("passed", "passed")
    assert (outcome.state.attempts, outcome.state.attempt) == (0, 1)
    assert (outcome.hints, outcome.unproven, outcome.warning) == ((), (), None)


def test_pass_after_a_failure() -> None:
    gates, state = open_gate(severity="critical")
    outcome = after(state, FAIL, PASS, gates=gates)
    assert outcome.word == "passed"
    assert (outcome.state.attempts, outcome.state.attempt) == (1, 2)
    assert [event.what for event in outcome.state.history] == ["failed", "passed"]


def test_vr_26_fail_with_attempts_left_waits_for_the_next_verdict() -> None:
    gates = check(retrying(max_attempts=3))
    outcome = after(open_check(gates), FAIL, gates=gates)
    assert (outcome.word, outcome.state.attempts) == ("retry", 1)
    assert outcome.hints == ("What quality asks",)


def test_vr_27_fail_without_attempts_left_waits_for_a_person() -> None:
    gates = check(retrying(max_attempts=3))
    state = after(open_check(gates), FAIL, FAIL, FAIL, gates=gates).state
    assert state.offers == ("retry", "skip", "abort")
    assert build_exhaustion_text(gates, state) == (
        "Not passed after 3 attempts: quality. Last: No test covers the retry"
    )
    once = check(retrying(max_attempts=1))
    state = after(open_check(once), FAIL, gates=once).state
    assert build_exhaustion_title(once, state) == "Not passed after 1 attempt: quality"


def test_vr_28_advisory_goes_on_with_a_warning() -> None:
    gates, state = open_gate(severity="high", criteria=["x"])
    outcome = after(state, FAIL, gates=gates)
    assert (outcome.word, outcome.state.status) == ("warned", "warned")
    assert outcome.warning == "Gate not passed: quality. No test covers the retry"
    assert outcome.state.offers == ()


def test_vr_28_the_warning_names_the_gates_that_failed() -> None:
    gates = check(gate("one"), gate("two"), gate("three"))
    entries = (GateVerdict(index=2, passed=False, rationale="Why"),)
    outcome = after(open_check(gates), replace(FAIL, per_gate=entries), gates=gates)
    assert outcome.warning == "Gate not passed: two. No test covers the retry"
    assert outcome.state.history[0].remarks == ("two: Why",)


def test_the_warning_says_why_a_claim_was_not_believed() -> None:
    gates, state = open_gate(criteria=[{"text": "It is clear", "verifier": "judge"}])
    said = JudgeEvidence(criterion="quality.1", passed=False, rationale="What is foo?")
    outcome = apply_verdict(state, PASS, gates=gates, evidence=[said])
    assert outcome.warning is not None
    assert outcome.warning.startswith("Gate not passed: quality. PASS was claimed")
    assert outcome.warning.endswith(" (quality.1: What is foo?)")


def test_vr_29_informational_goes_on_without_one() -> None:
    gates, state = open_gate(severity="low")
    outcome = after(state, FAIL, gates=gates)
    assert (outcome.word, outcome.state.status) == ("logged", "logged")
    assert outcome.warning is None


def test_vr_30_a_mode_that_nobody_knows_blocks() -> None:
    gates, state = open_gate()
    outcome = after(replace(state, mode="unheard-of"), FAIL, gates=gates)
    assert outcome.word == "retry"
    document = replace(state, mode="unheard-of").to_json()
    with pytest.raises(ValueError, match="unheard-of"):
        CheckState.from_json(document)


def make_exhausted() -> CheckState:
    gates, state = open_gate(severity="critical")
    return after(state, FAIL, FAIL, gates=gates).state


def test_vr_31_retry_resets_the_attempts_and_history_keeps_a_row() -> None:
    state = apply_ruling(
        make_exhausted(), "retry", said="One more", guidance="Mock the clock"
    )
    assert (state.status, state.attempts, state.attempt) == ("open", 0, 1)
    assert (state.resets, state.guidance) == (1, "Mock the clock")
    assert [event.what for event in state.history] == ["failed", "failed", "reset"]
    assert state.history[-1].said == "One more"


def test_vr_31_resets_are_capped() -> None:
    gates, state = open_gate(severity="critical")
    for _ in range(MAX_RESETS):
        state = after(state, FAIL, FAIL, gates=gates).state
        state = apply_ruling(state, "retry", said="Again")
    state = after(state, FAIL, FAIL, gates=gates).state
    assert (state.resets, state.offers) == (3, ("skip", "abort"))
    with pytest.raises(NotOffered, match="offers skip, abort"):
        apply_ruling(state, "retry", said="Again")
    assert apply_ruling(state, "skip", said="Enough").status == "skipped"


def test_a_check_that_may_never_be_reset() -> None:
    gates = check(retrying(max_attempts=1))
    state = open_check(gates, max_resets=0)
    assert after(state, FAIL, gates=gates).state.offers == ("skip", "abort")


def test_vr_32_skip_ends_the_check_unpassed() -> None:
    state = apply_ruling(make_exhausted(), "skip", said="Known and accepted")
    assert (state.status, state.attempts) == ("skipped", 2)
    assert (state.history[-1].what, state.history[-1].said) == (
        "skipped",
        "Known and accepted",
    )


def test_vr_33_abort() -> None:
    assert apply_ruling(make_exhausted(), "abort", said="Wrong way").status == "aborted"


@each_row("ruling", ["approve", "RETRY", "", "open", "skipped"])
def test_vr_34_an_unknown_ruling(ruling: str) -> None:
    with pytest.raises(NotOffered):
        apply_ruling(make_exhausted(), ruling, said="x")


@each_row("ruling", ["retry", "skip", "abort"])
@each_row("mode", ["blocking", "advisory", "informational"])
def test_rulings_are_offered_on_exhausted_checks_alone(mode: str, ruling: str) -> None:
    gates, state = open_gate(mode=mode)
    for one in (state, after(state, FAIL, gates=gates).state):
        with pytest.raises(NotOffered, match="offers nothing"):
            apply_ruling(one, ruling, said="x")


def test_vr_41_every_fail_counts() -> None:
    gates = check(retrying(max_attempts=20))
    state = open_check(gates)
    for count in range(1, 21):
        state = after(state, FAIL, gates=gates).state
        assert state.attempts == count


def test_vr_42_mixed_gates_take_the_strictest_of_all() -> None:
    gates = check(
        gate("mild", mode="informational", retry={"max_attempts": 1}),
        retrying("strict", max_attempts=9),
    )
    assert after(open_check(gates), FAIL, gates=gates).word == "exhausted"


@pytest.mark.parametrize("ruling", ["skip", "abort"])
def test_vr_43_an_ended_check_takes_nothing_more(ruling: str) -> None:
    gates, _ = open_gate(severity="critical")
    state = apply_ruling(make_exhausted(), ruling, said="x")
    with pytest.raises(NotOffered, match="takes no more verdicts"):
        apply_verdict(state, PASS, gates=gates)
    for word in ("retry", "skip", "abort"):
        with pytest.raises(NotOffered):
            apply_ruling(state, word, said="x")


def test_no_verdict_is_taken_while_a_person_has_to_choose() -> None:
    gates, _ = open_gate(severity="critical")
    with pytest.raises(NotOffered, match="exhausted"):
        apply_verdict(make_exhausted(), PASS, gates=gates)


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(overall="MAYBE", rationale="x"),
        Verdict(overall="pass", rationale="x"),
        replace(PASS, per_gate=(GateVerdict(index=1, passed=False, rationale="x"),)),
    ],
    ids=["third-word", "small-letters", "failing-entry"],
)
def test_a_verdict_that_no_reader_makes_does_not_pass(verdict: Verdict) -> None:
    gates, state = open_gate(severity="critical")
    assert after(state, verdict, gates=gates).word == "retry"


def test_a_state_survives_its_json() -> None:
    gates, state = open_gate(severity="critical", criteria=["x"])
    entries = (GateVerdict(index=1, passed=False, rationale="Why"),)
    state = after(state, replace(FAIL, per_gate=entries), FAIL, gates=gates).state
    state = apply_ruling(state, "retry", said="Again", guidance="Two\nlines")
    for one in (open_check(gates), state):
        assert CheckState.from_json(json.loads(json.dumps(one.to_json()))) == one
