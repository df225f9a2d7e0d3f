"""The fake server's routes for runs, steps, checkpoints and waiting."""

from __future__ import annotations

from checkrail.testing.fakes import FakeRun, Refusal
from checkrail.testing.note_routes import deliver_notes, list_unread, read_notes
from checkrail.testing.scripts import Scripted
from checkrail.testing.secrets import refuse_secrets
from checkrail.testing.server import Answer, FakeServer, take_scripted
from checkrail.testing.shapes import AT, POLICY, Json, build_evaluation, make_id


def start(server: FakeServer, body: Json) -> Answer:
    server.refuse_halted()
    run = FakeRun(body=body)
    server.runs[run.id] = run
    return 201, run.build_answer()


def show(_server: FakeServer, run: FakeRun, _body: Json) -> Answer:
    return 200, run.build_answer()


def show_policy(server: FakeServer) -> Answer:
    """The one policy that there is: it says what models cost, and nothing else."""
    models = {name: dict(price) for name, price in server.prices.items()}
    return 200, {
        **POLICY,
        "active": True,
        "note": "",
        "by": None,
        "at": AT,
        "document": {"prices": {"models": models}},
        "yaml": "",
    }


def report(server: FakeServer, run: FakeRun, body: Json) -> Answer:
    before = run.last_step
    answer = _take_step(server, run, body)
    _add_notes(run, answer, before)
    return 201, answer


def _add_notes(run: FakeRun, answer: Json, before: int) -> None:
    """A step that is told again has what it had."""
    if answer["step"] > before and run.status == "running":
        answer["notes"] = deliver_notes(run, "step")


def _take_step(server: FakeServer, run: FakeRun, body: Json) -> Json:
    number = body["number"]
    if number in run.steps:
        fields, answer = run.steps[number]
        if fields != body:
            raise Refusal("step-conflict", 409, f"Step {number} is another one.")
        return answer
    run.refuse_unless_running()
    if number != run.last_step + 1:
        raise Refusal("step-out-of-order", 409, "Not yet.", expected=run.last_step + 1)
    server.refuse_halted()
    scripted = take_scripted(server.decisions, "continue", "decision")
    word = scripted["decision"]
    run.last_step = number
    review = None
    if word == "pause":
        review = server.open_review(
            run, "pause", "The script pauses", {}
        ).build_reference()
    elif word == "stop":
        run.close("stopped", "The script stops")
    read_notes(run)
    answer = {
        "run": run.id,
        "step": number,
        **build_evaluation(word),
        **scripted,
        "review": review,
        "policy": POLICY,
        "notes": [],
        "receipt": run.make_receipt(),
    }
    run.steps[number] = (body, answer)
    return answer


def report_batch(server: FakeServer, run: FakeRun, body: Json) -> Answer:
    decisions: list[Json] = []
    before = run.last_step
    for step in body["steps"]:
        decisions.append(_take_step(server, run, step))
        if decisions[-1]["decision"] in ("pause", "stop"):
            break
    _add_notes(run, decisions[-1], before)
    return 200, {"decisions": decisions, "accepted": len(decisions)}


def save(_server: FakeServer, run: FakeRun, body: Json) -> Answer:
    refuse_secrets(body.get("state", {}))
    run.refuse_closed()
    _refuse_later(run, body["step"])
    saved = {
        "id": make_id(),
        "run": run.id,
        "step": body["step"],
        "label": body.get("label", ""),
        "state": body.get("state", {}),
        "created_at": AT,
    }
    run.checkpoints.append(saved)
    return 201, {**saved, "receipt": run.make_receipt()}


def _refuse_later(run: FakeRun, step: int) -> None:
    if step > run.last_step:
        raise Refusal("invalid", 422, "step: later than the last one reported.")


def answer_latest_checkpoint(_server: FakeServer, run: FakeRun, _body: Json) -> Answer:
    if not run.checkpoints:
        raise Refusal("not-found", 404, "This run has saved no checkpoint yet.")
    return 200, run.checkpoints[-1]


def answer_decision(server: FakeServer, run: FakeRun, query: Json) -> Answer:
    review = run.reviews[-1] if run.reviews else None
    if "review" in query:
        review = server.get_review(query["review"])
    wait = float(query.get("wait", 0))
    if run.status == "running":
        server.refuse_halted(wait)
    server.pass_time(run, review, wait)
    seen = review and {"id": review.id, "kind": review.kind, "version": 1}
    if review is not None and review.state != "open" and run.status == "running":
        deliver_notes(run, f"decision {review.id}")
    return 200, {
        "run": run.id,
        "run_status": run.get_status(),
        "state": review.state if review else "none",
        "review": seen,
        "ruling": review.ruling if review else None,
        "notes": list_unread(run, f"decision {review.id}") if review else [],
    }


def ask(server: FakeServer, run: FakeRun, body: Json) -> Answer:
    run.refuse_unless_running()
    server.refuse_halted()
    return 201, server.open_review(
        run, body["kind"], body["title"], body
    ).build_answer()


def submit_plan(server: FakeServer, run: FakeRun, body: Json) -> Answer:
    """Judged by nobody: which calls go through is for the script to say."""
    run.refuse_unless_running()
    server.refuse_halted()

    def amend(script: Scripted) -> Json:
        changed = script.amended
        return {} if changed is None else {"amended": {**body, **changed}}

    review = server.open_review(run, "plan", body["title"], body, then=amend)
    return 201, review.build_answer()


def withdraw(server: FakeServer, code: str) -> Answer:
    review = server.get_review(code)
    if review.state != "open":
        raise Refusal("already-ruled", 409, "It is closed.", state=review.state)
    review.state = "withdrawn"
    return 200, review.build_answer()


def record_violation(_server: FakeServer, run: FakeRun, body: Json) -> Answer:
    run.refuse_closed()
    told = {
        "run": run.id,
        "rule": body["rule"],
        "severity": body["severity"],
        "description": body.get("description", ""),
        "auto_corrected": body.get("auto_corrected", False),
    }
    return 201, {**told, "receipt": run.make_receipt()}


def finish(_server: FakeServer, run: FakeRun, body: Json) -> Answer:
    run.refuse_closed()
    if run.open_reviews:
        review = run.open_reviews[0].build_reference()
        raise Refusal("review-open", 409, "A person is asked.", review=review)
    run.close(body["outcome"])
    run.make_receipt()
    return 200, run.build_answer()
