"""The fake server's routes for gate checks, turns, and evaluation without a run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from checkrail.testing.fakes import FakeReview, FakeRun, Refusal
from checkrail.testing.scripts import Scripted
from checkrail.testing.server import Answer, FakeServer, take_scripted
from checkrail.testing.shapes import (
    POLICY,
    Json,
    build_call_finding,
    build_evaluation,
    make_id,
)

MAX_ATTEMPTS = 2
_VERDICT = re.compile(r"^\W*(?:GATE_REVIEW:|GATE)?\s*(PASS|FAIL)\W+(.+)", re.I | re.M)
_SIGNALS = ("finish_reason", "last_event", "content_intent", "no_summary", "tool_ratio")


@dataclass
class FakeCheck:
    run: FakeRun
    step: int
    gates: list[str]
    id: str = field(default_factory=make_id)
    status: str = "open"
    attempt: int = 1
    attempts_left: int = MAX_ATTEMPTS
    feedback: str | None = None
    guidance: str | None = None
    review: FakeReview | None = None

    def apply_ruling(self, script: Scripted) -> Json:
        if script.action == "retry":
            self.status, self.guidance = "open", script.note or None
            self.attempt, self.attempts_left = 1, MAX_ATTEMPTS
        elif script.action == "skip":
            self.status = "skipped"
        return {}

    def build_answer(self) -> Json:
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


def open_check(_server: FakeServer, run: FakeRun, body: Json) -> Answer:
    run.refuse_unless_running()
    step = body.get("step", run.last_step)
    if step > run.last_step:
        raise Refusal("invalid", 422, "step: later than the last one reported.")
    gates = [*body.get("gates", ()), *(gate["id"] for gate in body.get("inline", ()))]
    if not gates:
        raise Refusal("invalid", 422, "gates: name at least one.")
    check = FakeCheck(run=run, step=step, gates=gates)
    run.checks[check.id] = check
    return 201, {**check.build_answer(), "receipt": run.make_receipt()}


def show(_server: FakeServer, _run: FakeRun, check: FakeCheck, _body: Json) -> Answer:
    waits = check.status == "exhausted" and check.review is not None
    return 200, {
        **check.build_answer(),
        "step": check.step,
        "guidance": check.guidance,
        "review": check.review.build_reference() if waits and check.review else None,
    }


def answer_verdict(
    server: FakeServer, run: FakeRun, check: FakeCheck, body: Json
) -> Answer:
    run.refuse_unless_running()
    if check.status != "open":
        raise Refusal("already-ruled", 409, "The check has ended.", state=check.status)
    passed, why = _parse_verdict(body)
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
            check.review = server.open_review(
                run, "exhausted", why, content, then=check.apply_ruling
            )
    asked = check.review if outcome == "exhausted" else None
    return 200, {
        **check.build_answer(),
        "outcome": outcome,
        "hints": [],
        "unproven": [],
        "review": asked.build_reference() if asked else None,
        "receipt": run.make_receipt(),
    }


def answer_turn(server: FakeServer, run: FakeRun, body: Json) -> Answer:
    run.refuse_unless_running()
    scripted = take_scripted(server.turns, "finish", "action")
    review = None
    if scripted["action"] == "needs_human":
        text = body.get("content") or "The agent asks."
        review = server.open_review(run, "question", text, body).build_reference()
    return 201, {
        "run": run.id,
        "score": 0,
        "signals": dict.fromkeys(_SIGNALS, 0),
        "retries_used": 0,
        "max_retries": 3,
        "nudge": "Go on." if scripted["action"] == "auto_continue" else None,
        "reason": "The script says so",
        **scripted,
        "review": review,
        "policy": POLICY,
        "receipt": run.make_receipt(),
    }


def evaluate(server: FakeServer, what: str, body: Json) -> Answer:
    if what == "continue":
        scripted = take_scripted(server.decisions, "continue", "decision")
        return 200, {
            **build_evaluation(scripted["decision"]),
            **scripted,
            "policy": POLICY,
        }
    if what == "turn":
        scripted = take_scripted(server.turns, "finish", "action")
        fields = {"score": 0, "signals": dict.fromkeys(_SIGNALS, 0), "nudge": None}
        return 200, {
            **fields,
            "reason": "",
            "question": None,
            **scripted,
            "policy": POLICY,
        }
    if what == "verdict":
        passed, why = _parse_verdict(body)
        overall = "PASS" if passed else "FAIL"
        fields = {"overall": overall, "rationale": why, "per_gate": []}
        return 200, {**fields, "form": "scripted"}
    scripted = take_scripted(server.calls, "allow", "decision")
    word = scripted["decision"]
    findings = [] if word == "allow" else [build_call_finding(word)]
    preview = {"preview": None} if what == "multi-edit" else {}
    return 200, {"findings": findings, "policy": POLICY, **preview, **scripted}


def _parse_verdict(body: Json) -> tuple[bool, str]:
    if "text" not in body:
        return body["overall"] == "PASS", body["rationale"]
    found = _VERDICT.search(body["text"])
    if found is None:
        raise Refusal("invalid", 422, "No verdict: GATE_REVIEW: PASS|FAIL - reason")
    return found[1].upper() == "PASS", found[2]
