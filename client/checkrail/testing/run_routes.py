"""The fake's doors for runs, steps, checkpoints and waiting."""

from __future__ import annotations

from checkrail.testing.fakes import FakeRun, Refusal
from checkrail.testing.secrets import refuse_secrets
from checkrail.testing.server import Answer, Stage, words
from checkrail.testing.shapes import AT, POLICY, Json, evaluation, identity


def start(stage: Stage, body: Json) -> Answer:
    run = FakeRun(body=body)
    stage.runs[run.id] = run
    return 201, run.shape()


def show(_stage: Stage, run: FakeRun, _body: Json) -> Answer:
    return 200, run.shape()


def report(stage: Stage, run: FakeRun, body: Json) -> Answer:
    return 201, _step(stage, run, body)


def _step(stage: Stage, run: FakeRun, body: Json) -> Json:
    number = body["number"]
    if number in run.steps:
        told, answer = run.steps[number]
        if told != body:
            raise Refusal("step-conflict", 409, f"Step {number} is another one.")
        return answer
    run.refuse_unless_running()
    if number != run.last_step + 1:
        raise Refusal("step-out-of-order", 409, "Not yet.", expected=run.last_step + 1)
    said = words(stage.decisions, "continue", "decision")
    word = said["decision"]
    run.last_step = number
    review = None
    if word == "pause":
        review = stage.open_review(run, "pause", "The script pauses", {}).reference()
    elif word == "stop":
        run.close("stopped", "The script stops")
    answer = {
        "run": run.id,
        "step": number,
        **evaluation(word),
        **said,
        "review": review,
        "policy": POLICY,
        "receipt": run.receipt(),
    }
    run.steps[number] = (body, answer)
    return answer


def report_batch(stage: Stage, run: FakeRun, body: Json) -> Answer:
    decisions: list[Json] = []
    for step in body["steps"]:
        decisions.append(_step(stage, run, step))
        if decisions[-1]["decision"] in ("pause", "stop"):
            break
    return 200, {"decisions": decisions, "accepted": len(decisions)}


def save(_stage: Stage, run: FakeRun, body: Json) -> Answer:
    refuse_secrets(body.get("state", {}))
    run.refuse_closed()
    _refuse_later(run, body["step"])
    saved = {
        "id": identity(),
        "run": run.id,
        "step": body["step"],
        "label": body.get("label", ""),
        "state": body.get("state", {}),
        "created_at": AT,
    }
    run.checkpoints.append(saved)
    return 201, {**saved, "receipt": run.receipt()}


def _refuse_later(run: FakeRun, step: int) -> None:
    if step > run.last_step:
        raise Refusal("invalid", 422, "step: later than the last one reported.")


def latest(_stage: Stage, run: FakeRun, _body: Json) -> Answer:
    if not run.checkpoints:
        raise Refusal("not-found", 404, "This run has saved no checkpoint yet.")
    return 200, run.checkpoints[-1]


def decision(stage: Stage, run: FakeRun, query: Json) -> Answer:
    review = run.reviews[-1] if run.reviews else None
    if "review" in query:
        review = stage.review(query["review"])
    stage.look(run, review, float(query.get("wait", 0)))
    seen = review and {"id": review.id, "kind": review.kind, "version": 1}
    return 200, {
        "run": run.id,
        "run_status": run.standing(),
        "state": review.state if review else "none",
        "review": seen,
        "ruling": review.ruling if review else None,
    }


def ask(stage: Stage, run: FakeRun, body: Json) -> Answer:
    run.refuse_unless_running()
    return 201, stage.open_review(run, body["kind"], body["title"], body).shape()


def withdraw(stage: Stage, code: str) -> Answer:
    review = stage.review(code)
    if review.state != "open":
        raise Refusal("already-ruled", 409, "It is closed.", state=review.state)
    review.state = "withdrawn"
    return 200, review.shape()


def finish(_stage: Stage, run: FakeRun, body: Json) -> Answer:
    run.refuse_closed()
    if run.waiting:
        review = run.waiting[0].reference()
        raise Refusal("review-open", 409, "A person is asked.", review=review)
    run.close(body["outcome"])
    run.receipt()
    return 200, {**run.shape(), "evaluations": []}
