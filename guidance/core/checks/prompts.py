"""The prompt for an attempt, and what a person reads when attempts run out.

No line of a prompt may be read as a verdict when a model repeats it: whatever others
wrote stands behind a sign that no verdict line begins with, on a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from guidance.core.checks.attempts import CheckState, describe_failure
from guidance.core.checks.combined_gates import CombinedGates
from guidance.core.checks.definitions import Criterion, GateDefinition

_MODES = {
    "blocking": "work goes on only after a PASS",
    "advisory": "after a FAIL work goes on, and the warning stays on the run",
    "informational": "the answer is recorded, and work goes on",
}
_ANSWER = (
    "How to answer: judge the finished work, not the intention, and write one line in"
    " one of these forms, with PASS or FAIL and your own reason.",
    "- Form 1: GATE_REVIEW: PASS|FAIL - reason",
    "- Form 2: GATE PASS|FAIL - reason",
    "- For each gate, under a line with the word GATE_VERDICTS: [n] PASS|FAIL - text",
    "Or send overall, rationale and per_gate as an object. A PASS with a gate that"
    " failed is refused; so is a text that says both.",
)


def build_prompt(gates: CombinedGates, state: CheckState) -> str:
    """The text for the attempt that is due."""
    return "\n".join(_build_lines(gates, state))


def build_previous_feedback(gates: CombinedGates, state: CheckState) -> str | None:
    """What was said about the last failure, where a gate lets the agent know."""
    last = state.last_failure
    return describe_failure(last) if last and gates.preserve_context else None


def build_exhaustion_title(gates: CombinedGates, state: CheckState) -> str:
    names = ", ".join(gate.name for gate in gates.gates)
    tries = "1 attempt" if state.attempts == 1 else f"{state.attempts} attempts"
    return f"Not passed after {tries}: {names}"


def build_exhaustion_text(gates: CombinedGates, state: CheckState) -> str:
    """What a person is told who has to choose."""
    last = state.last_failure
    said = f" Last: {describe_failure(last)}" if last else ""
    return f"{build_exhaustion_title(gates, state)}.{said}"


def _build_lines(gates: CombinedGates, state: CheckState) -> Iterator[str]:
    yield f"Attempt {state.attempt} of {state.max_attempts}"
    yield f"Enforcement: {state.mode}, {_MODES[state.mode]}."
    for number, gate in enumerate(gates.gates, 1):
        yield ""
        yield from _describe_gate(number, gate)
    last = state.last_failure
    if last is not None:
        hints = gates.list_hints(last.failed_gates)
        if hints:
            yield ""
            yield "Look at these again:"
            yield from (f"- {hint}" for hint in hints)
        feedback = build_previous_feedback(gates, state)
        if feedback is not None:
            yield ""
            yield f"Previous feedback: {feedback}"
            yield from (f"- About {remark}" for remark in last.remarks)
    if state.guidance:
        yield ""
        yield "A reviewer gave this guidance for the new attempt:"
        yield from _quote_lines(state.guidance)
    yield ""
    yield from _ANSWER


def _describe_gate(number: int, gate: GateDefinition) -> Iterator[str]:
    yield f"Gate {number}: {gate.name} ({gate.slug}, {gate.severity})"
    if gate.description:
        yield from _quote_lines(gate.description)
    for place, criterion in enumerate(gate.criteria, 1):
        yield f"- {criterion.text}{_describe_proof(f'{gate.slug}.{place}', criterion)}"
    if gate.guidance:
        yield "Guidance:"
        yield from _quote_lines(gate.guidance)


def _describe_proof(name: str, criterion: Criterion) -> str:
    if criterion.verifier == "command":
        return (
            f" [{name}: run this command and report its exit_code and the"
            f" output_sha256 as evidence: {criterion.command}]"
        )
    if criterion.verifier == "judge":
        return f" [{name}: a judge decides on this]"
    return ""


def _quote_lines(text: str) -> Iterator[str]:
    return (f"> {line}" for line in text.splitlines())
