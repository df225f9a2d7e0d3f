"""The fake's doors for gate checks, turns, and evaluation without a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from checkrail.testing.fakes import FakeReview, FakeRun, Refusal
from checkrail.testing.scripts import Scripted
from checkrail.testing.server import Answer, Stage, words
from checkrail.testing.shapes import POLICY, Json, call_finding, evaluation, identity

MAX_ATTEMPTS = 2
_VERDICT = re.compile(r"^\W*(?:GATE_REVIEW:|GATE)?\s*(PASS|FAIL)\W+(.+)", re.I | re.M)
_SIGNALS = ("finish_reason", "last_event", "content_intent", "no_summary", "tool_ratio")


@dataclass
class FakeCheck:
    run: FakeRun
    step: int
    gates: list[str]
    id: str = field(default_factory=identity)
    status: str = "open"
    attempt: int = 1
    attempts_left: int = MAX_ATTEMPTS
    feedback: str | None = None
    guidance: str | None = None
    review: FakeReview | None = None

    def ruled(self, script: Scripted) -> Json:
        if script.action == "retry":
            self.status, self.guidance = "open", script.note or None
            self.attempt, self.attempts_left = 1, MAX_ATTEMPTS
        elif script.action == "skip":
            self.status = "skipped"
        return {}

    def shape(self) -> Json:
        asks = self.status == "open"
        return {
            "id": self.id,
            "run": self.run.id,
            "status": self.status,
            "gates": self.gates,
            "enforcement_mode": "blocking",
            "attempt": self.attempt,
            "max_attempts": MAX_ATTEMPTS,
            "attempts_left": self.attempts_left,
            "previous_feedback": self.feedback,
            "prompt": f"Attempt {self.attempt} of {MAX_ATTEMPTS}" if asks else None,
            "advisory_warnings": [],
        }


def open_check(_stage: Stage, run: FakeRun, body: Json) -> Answer:
    run.refuse_unless_running()
    step = body.get("step", run.last_step)
    if step > run.last_step:
        raise Refusal("invalid", 422, "step: later than the last one reported.")
    gates = [*body.get("gates", ()), *(gate["id"] for gate in body.get("inline", ()))]
    if not gates:
        raise Refusal("invalid", 422, "gates: name at least one.")
    check = FakeCheck(run=run, step=step, gates=gates)
    run.checks[check.id] = check
    return 201, {**check.shape(), "receipt": run.receipt()}


def show(_stage: Stage, _run: FakeRun, check: FakeCheck, _body: Json) -> Answer:
    waits = check.status == "exhausted" and check.review is not None
    return 200, {
        **check.shape(),
        "step": check.step,
        "guidance": check.guidance,
        "review": check.review.reference() if waits and check.review else None,
    }


def verdict(stage: Stage, run: FakeRun, check: FakeCheck, body: Json) -> Answer:
    run.refuse_unless_running()
    if check.status != "open":
        raise Refusal("already-ruled", 409, "The check has ended.", state=check.status)
    passed, why = _read(body)
    outcome = "passed" if passed else "retry"
    if passed:
        check.status = "passed"
    else:
        check.attempts_left -= 1
        check.feedback = why
        if check.attempts_left:
            check.attempt += 1
        else:
            outcome = check.status = "exhausted"
            content = {"kind": "exhausted", "check": check.id}
            check.review = stage.open_review(
                run, "exhausted", why, content, then=check.ruled
            )
    asked = check.review if outcome == "exhausted" else None
    return 200, {
        **check.shape(),
        "outcome": outcome,
        "hints": [],
        "unproven": [],
        "review": asked.reference() if asked else None,
        "receipt": run.receipt(),
    }


def turn(stage: Stage, run: FakeRun, body: Json) -> Answer:
    run.refuse_unless_running()
    said = words(stage.turns, "finish", "action")
    review = None
    if said["action"] == "needs_human":
        text = body.get("content") or "The agent asks."
        review = stage.open_review(run, "question", text, body).reference()
    return 201, {
        "run": run.id,
        "score": 0,
        "signals": dict.fromkeys(_SIGNALS, 0),
        "retries_used": 0,
        "max_retries": 3,
        "nudge": "Go on." if said["action"] == "auto_continue" else None,
        "reason": "The script says so",
        **said,
        "review": review,
        "policy": POLICY,
        "receipt": run.receipt(),
    }


def evaluate(stage: Stage, what: str, body: Json) -> Answer:
    if what == "continue":
        said = words(stage.decisions, "continue", "decision")
        return 200, {**evaluation(said["decision"]), **said, "policy": POLICY}
    if what == "turn":
        said = words(stage.turns, "finish", "action")
        told = {"score": 0, "signals": dict.fromkeys(_SIGNALS, 0), "nudge": None}
        return 200, {**told, "reason": "", "question": None, **said, "policy": POLICY}
    if what == "verdict":
        passed, why = _read(body)
        overall = "PASS" if passed else "FAIL"
        told = {"overall": overall, "rationale": why, "per_gate": []}
        return 200, {**told, "form": "scripted"}
    said = words(stage.calls, "allow", "decision")
    word = said["decision"]
    findings = [] if word == "allow" else [call_finding(word)]
    preview = {"preview": None} if what == "multi-edit" else {}
    return 200, {"findings": findings, "policy": POLICY, **preview, **said}


def _read(body: Json) -> tuple[bool, str]:
    if "text" not in body:
        return body["overall"] == "PASS", body["rationale"]
    found = _VERDICT.search(body["text"])
    if found is None:
        raise Refusal("invalid", 422, "No verdict: GATE_REVIEW: PASS|FAIL - reason")
    return found[1].upper() == "PASS", found[2]
