"""Gates, checks and verdicts for the tests of the core."""

from __future__ import annotations

from typing import Any

from guidance.core.checks import (
    CheckState,
    CombinedGates,
    CommandEvidence,
    GateDefinition,
    JudgeEvidence,
    Outcome,
    Refused,
    Verdict,
    VerdictProblem,
    apply_verdict,
    choose_gates,
    combine,
    open_check,
    read_gate,
    read_verdict_body,
    read_verdict_text,
)

DIGEST = "a" * 64
COMMAND = {"text": "The tests pass", "verifier": "command", "command": "pytest -q"}
JUDGE = {"text": "The plan holds", "verifier": "judge"}
FAIL = Verdict(overall="FAIL", rationale="No test covers the retry")
PASS = Verdict(overall="PASS", rationale="Every criterion is met")


def gate(name: str = "quality", /, **fields: Any) -> GateDefinition:
    return read_gate({"id": name, **fields})


def retrying(name: str = "quality", /, **fields: Any) -> GateDefinition:
    """A blocking gate with these retry fields."""
    return gate(name, mode="blocking", criteria=[f"What {name} asks"], retry=fields)


def check(*gates: GateDefinition) -> CombinedGates:
    return combine(gates or (gate(),))


def open_gate(**fields: Any) -> tuple[CombinedGates, CheckState]:
    gates = check(gate(**fields))
    return gates, open_check(gates)


def after(state: CheckState, *verdicts: Verdict, gates: CombinedGates) -> Outcome:
    for verdict in verdicts:
        outcome = apply_verdict(state, verdict, gates=gates)
        state = outcome.state
    return outcome


def ran(criterion: str = "quality.1", exit_code: int = 0) -> CommandEvidence:
    return CommandEvidence(
        criterion=criterion, exit_code=exit_code, output_sha256=DIGEST
    )


def make_judgement(
    criterion: str = "quality.1", *, passed: bool = True
) -> JudgeEvidence:
    return JudgeEvidence(criterion=criterion, passed=passed, rationale="It says so")


def read(text: str, *, gates: int | None = None, bare: bool = False) -> Verdict:
    verdict = read_verdict_text(text, gates=gates, bare=bare)
    assert isinstance(verdict, Verdict), verdict
    return verdict


def why_not(text: str, *, gates: int | None = None, bare: bool = False) -> str:
    problem = read_verdict_text(text, gates=gates, bare=bare)
    assert isinstance(problem, VerdictProblem), problem
    assert all(path == "text" for path, _ in problem.errors)
    return problem.message


def body(**fields: Any) -> dict[str, Any]:
    return {"overall": "PASS", "rationale": "All is well", **fields}


def entry(index: object = 1, passed: object = True, **fields: Any) -> dict[str, Any]:
    return {"index": index, "passed": passed, "rationale": "Seen", **fields}


def body_problems(document: object, *, gates: int | None = 3) -> dict[str, str]:
    problem = read_verdict_body(document, gates=gates)
    assert isinstance(problem, VerdictProblem), problem
    return dict(problem.errors)


def gate_problems(**fields: Any) -> dict[str, str]:
    try:
        gate(**fields)
    except Refused as refused:
        return dict(refused.errors)
    return {}


def choice_problems(
    *named: str,
    inline: tuple[object, ...] = (),
    policy: tuple[GateDefinition, ...] = (),
) -> dict[str, str]:
    try:
        choose_gates(
            named=named, inline=inline, policy={gate.slug: gate for gate in policy}
        )
    except Refused as refused:
        return dict(refused.errors)
    return {}
