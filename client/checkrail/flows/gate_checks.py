"""Quality gates on a step, and the verdicts that answer them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from checkrail.answers import GateCheckState, GateOutcome
from checkrail.flows import lifecycle
from checkrail.flows.rulings import get_deadline, send_when_running, wait_for_ruling
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import catch_up
from checkrail.outcomes import Stopped
from checkrail.transport.effects import Flow, drop_unset, get, post, quote_part
from checkrail.transport.retry import send_request


class CheckCore:
    """A check and where it stands; `GateCheck` and `AsyncGateCheck` drive it."""

    def __init__(self, run: RunCore, state: GateCheckState) -> None:
        self.run = run
        self.driver = run.driver
        self.state = state

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def gates(self) -> Sequence[str]:
        return self.state.gates

    @property
    def prompt(self) -> str | None:
        """What to put to the model now; None once the check has ended."""
        return self.state.prompt

    @property
    def enforcement_mode(self) -> str:
        return self.state.enforcement_mode

    @property
    def attempt(self) -> int:
        return self.state.attempt

    @property
    def max_attempts(self) -> int:
        return self.state.max_attempts

    @property
    def attempts_left(self) -> int | None:
        return self.state.attempts_left

    def __repr__(self) -> str:
        gates = ", ".join(self.gates)
        return f"<{type(self).__name__} {gates}: attempt {self.attempt} of {self.max_attempts}>"


def gate_check(
    run: RunCore,
    gates: Sequence[str] = (),
    *,
    step: int | None = None,
    inline: Sequence[Mapping[str, Any]] = (),
) -> Flow[GateCheckState]:
    """Put quality gates to a step, the last one if none is named."""
    until = get_deadline(run, None)
    yield from catch_up(run, until)
    named = drop_unset(
        gates=list(gates) or None, inline=[dict(g) for g in inline] or None
    )
    body = {"step": run.last_step if step is None else step, **named}
    request = post(run.build_path("gate-checks"), body)
    return (yield from send_when_running(run, GateCheckState, request, until))


def verdict(
    check: CheckCore,
    overall: Literal["PASS", "FAIL"],
    rationale: str,
    *,
    per_gate: Sequence[Mapping[str, Any]] | None = None,
    evidence: Sequence[Mapping[str, Any]] = (),
    output: str = "",
    timeout: float | None = None,
) -> Flow[GateOutcome]:
    """Give a verdict. When the attempts are used up, a person is waited for."""
    entries = None if per_gate is None else [dict(entry) for entry in per_gate]
    body = {"overall": overall, "rationale": rationale, **drop_unset(per_gate=entries)}
    return (yield from _send_verdict(check, body, evidence, output, timeout))


def text(
    check: CheckCore,
    text: str,
    *,
    evidence: Sequence[Mapping[str, Any]] = (),
    output: str = "",
    timeout: float | None = None,
) -> Flow[GateOutcome]:
    """Give a verdict as the model wrote it, for example `GATE_REVIEW: FAIL - why`."""
    return (yield from _send_verdict(check, {"text": text}, evidence, output, timeout))


def refresh(check: CheckCore) -> Flow[GateCheckState]:
    """The check as it stands, with the prompt for its next attempt."""
    request = get(check.run.build_path("gate-checks", quote_part(check.id)))
    check.state = yield from send_request(check.run.connection, GateCheckState, request)
    return check.state


def _send_verdict(
    check: CheckCore,
    body: Mapping[str, Any],
    evidence: Sequence[Mapping[str, Any]],
    output: str,
    timeout: float | None,
) -> Flow[GateOutcome]:
    run = check.run
    until = get_deadline(run, timeout)
    proofs = drop_unset(
        evidence=[dict(item) for item in evidence] or None, output=output
    )
    request = post(
        run.build_path("gate-checks", quote_part(check.id), "verdicts"),
        {**body, **proofs},
    )
    outcome = yield from send_when_running(run, GateOutcome, request, until)
    if outcome.outcome == "exhausted":
        return (yield from _wait_for_choice(check, outcome, until))
    check.state = replace(
        check.state,
        status=outcome.status or check.state.status,
        attempt=outcome.attempt,
        attempts_left=outcome.attempts_left,
        previous_feedback=outcome.previous_feedback,
        advisory_warnings=outcome.advisory_warnings,
        prompt=outcome.prompt,
    )
    return outcome


def _wait_for_choice(
    check: CheckCore, outcome: GateOutcome, until: float
) -> Flow[GateOutcome]:
    """Wait for a person's ruling on a check without attempts left."""
    if outcome.review is None:
        # Nobody could be asked, so the run was stopped: the server says why.
        run = yield from lifecycle.refresh(check.run)
        raise Stopped(run.status_reason or "The attempts are used up.")
    ruling = yield from wait_for_ruling(check.run, outcome.review, until)
    state = yield from refresh(check)
    if ruling.action == "skip":
        return replace(outcome, outcome="skipped", ruling=ruling)
    return replace(
        outcome,
        outcome="retry",
        ruling=ruling,
        attempt=state.attempt,
        attempts_left=state.attempts_left or 0,
        prompt=state.prompt,
    )
