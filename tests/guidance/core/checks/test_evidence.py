"""Criteria with verifiers: saying PASS is not enough."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.checks import (
    CheckState,
    CommandEvidence,
    Evidence,
    JudgeEvidence,
    Outcome,
    Refused,
    apply_verdict,
    build_exhaustion_text,
    list_unproven,
    open_check,
    read_evidence,
)
from tests.guidance.core.checks.builders import (
    COMMAND,
    DIGEST,
    FAIL,
    JUDGE,
    PASS,
    check,
    gate,
    make_judgement,
    ran,
)
from tests.support.rows import each_row

BOTH = check(
    gate("style", criteria=["Names explain themselves"]),
    gate("quality", severity="critical", criteria=[COMMAND, "Plain", JUDGE]),
)
REPORT: dict[str, Any] = {
    "criterion": "quality.1",
    "exit_code": 0,
    "output_sha256": DIGEST,
}


def claim_pass(*evidence: Evidence, state: CheckState | None = None) -> Outcome:
    return apply_verdict(state or open_check(BOTH), PASS, gates=BOTH, evidence=evidence)


def test_a_pass_with_every_result_passes() -> None:
    assert claim_pass(ran(), make_judgement("quality.3")).word == "passed"


@each_row(
    ("evidence", "missing"),
    [
        ((), ("quality.1", "quality.3")),
        ((ran(),), ("quality.3",)),
        ((make_judgement("quality.3"),), ("quality.1",)),
        ((ran(exit_code=1), make_judgement("quality.3")), ("quality.1",)),
        ((ran(exit_code=-9), make_judgement("quality.3")), ("quality.1",)),
        ((ran(), make_judgement("quality.3", passed=False)), ("quality.3",)),
        ((ran(), ran("quality.3")), ("quality.3",)),
        ((make_judgement("quality.1"), make_judgement("quality.3")), ("quality.1",)),
        ((ran(), ran("quality.2"), ran("style.1")), ("quality.3",)),
        ((ran(exit_code=1), ran(), make_judgement("quality.3")), ("quality.1",)),
        ((ran(), ran(exit_code=1), make_judgement("quality.3")), ("quality.1",)),
    ],
)
def test_a_pass_without_a_passing_result_of_the_right_kind_fails(
    evidence: tuple[Evidence, ...], missing: tuple[str, ...]
) -> None:
    assert list_unproven(BOTH, evidence) == missing
    outcome = claim_pass(*evidence)
    assert (outcome.word, outcome.unproven) == ("retry", missing)
    (event,) = outcome.state.history
    assert (event.what, event.unproven, event.failed_gates) == ("failed", missing, (2,))
    assert outcome.hints == ("The tests pass", "Plain", "The plan holds")


def test_a_claim_without_proof_uses_up_an_attempt_and_ends_with_a_person() -> None:
    outcome = claim_pass(state=claim_pass().state)
    assert outcome.word == "exhausted"
    text = build_exhaustion_text(BOTH, outcome.state)
    assert "without a passing result for quality.1, quality.3" in text


def test_evidence_counts_for_its_own_attempt_alone() -> None:
    first = claim_pass(ran())
    assert (
        claim_pass(make_judgement("quality.3"), state=first.state).word == "exhausted"
    )


@pytest.mark.parametrize(
    ("mode", "word"), [("advisory", "warned"), ("informational", "logged")]
)
def test_a_claim_without_proof_in_the_mild_modes(mode: str, word: str) -> None:
    gates = check(gate(mode=mode, criteria=[COMMAND]))
    outcome = apply_verdict(open_check(gates), PASS, gates=gates)
    assert (outcome.word, outcome.unproven) == (word, ("quality.1",))


def test_a_fail_stays_one_whatever_is_proven() -> None:
    outcome = apply_verdict(
        open_check(BOTH),
        FAIL,
        gates=BOTH,
        evidence=(ran(), make_judgement("quality.3")),
    )
    assert (outcome.word, outcome.unproven) == ("retry", ())


def test_what_a_result_said_is_kept_in_one_line() -> None:
    said = JudgeEvidence(
        criterion="quality.3", passed=False, rationale="Too\n\nvague " + "x" * 3_000
    )
    (event,) = claim_pass(ran(exit_code=2), said).state.history
    assert event.remarks[0] == "quality.1: the command ended with exit code 2"
    assert event.remarks[1].startswith("quality.3: Too vague xxx")
    assert len(event.remarks[1]) < 2_050


def test_a_report_is_read_and_written_again() -> None:
    (read,) = read_evidence([REPORT], gates=BOTH)
    assert read == CommandEvidence(
        criterion="quality.1", exit_code=0, output_sha256=DIGEST
    )
    assert read.to_json() == REPORT
    assert make_judgement().to_json() == {
        "criterion": "quality.1",
        "passed": True,
        "rationale": "It says so",
    }
    assert read_evidence([], gates=BOTH) == ()


@each_row(
    ("fields", "path"),
    [
        ({"criterion": "quality.3"}, "criterion"),
        ({"criterion": "quality.2"}, "criterion"),
        ({"criterion": "quality.9"}, "criterion"),
        ({"criterion": "elsewhere.1"}, "criterion"),
        ({"criterion": 1}, "criterion"),
        ({"exit_code": False}, "exit_code"),
        ({"exit_code": "0"}, "exit_code"),
        ({"exit_code": 0.0}, "exit_code"),
        ({"exit_code": None}, "exit_code"),
        ({"exit_code": 2**32}, "exit_code"),
        ({"output_sha256": ""}, "output_sha256"),
        ({"output_sha256": "A" * 64}, "output_sha256"),
        ({"output_sha256": "a" * 63}, "output_sha256"),
        ({"output_sha256": "a" * 63 + "\n"}, "output_sha256"),
        ({"passed": True}, "passed"),
    ],
)
def test_a_report_is_read_strictly(fields: dict[str, Any], path: str) -> None:
    with pytest.raises(Refused) as refused:
        read_evidence([REPORT, REPORT | fields], gates=BOTH)
    assert [where for where, _ in refused.value.errors] == [f"evidence.1.{path}"]


@pytest.mark.parametrize("name", REPORT)
def test_a_report_lacks_nothing(name: str) -> None:
    short = {key: value for key, value in REPORT.items() if key != name}
    with pytest.raises(Refused) as refused:
        read_evidence([short], gates=BOTH)
    assert [where for where, _ in refused.value.errors] == [f"evidence.0.{name}"]


def test_an_agent_cannot_report_what_a_judge_said() -> None:
    word = {"criterion": "quality.3", "passed": True, "rationale": "fine"}
    with pytest.raises(Refused):
        read_evidence([word], gates=BOTH)
