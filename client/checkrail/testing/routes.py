"""The routes of the fake server."""

from __future__ import annotations

from collections.abc import Callable

from checkrail.testing import call_routes, check_routes, note_routes, run_routes
from checkrail.testing.fakes import Refusal
from checkrail.testing.server import Answer, FakeServer
from checkrail.testing.shapes import Json

_RUN_ROUTES: dict[tuple[str, str], Callable[..., Answer]] = {
    ("GET", ""): run_routes.show,
    ("POST", "steps"): run_routes.report,
    ("POST", "steps/batch"): run_routes.report_batch,
    ("POST", "checkpoints"): run_routes.save,
    ("POST", "violations"): run_routes.record_violation,
    ("GET", "checkpoints/latest"): run_routes.answer_latest_checkpoint,
    ("GET", "decision"): run_routes.answer_decision,
    ("POST", "reviews"): run_routes.ask,
    ("POST", "plans"): run_routes.submit_plan,
    ("POST", "finish"): run_routes.finish,
    ("GET", "notes"): note_routes.show_notes,
    ("POST", "tool-calls"): call_routes.judge,
    ("POST", "gate-checks"): check_routes.open_check,
    ("POST", "turns"): check_routes.answer_turn,
}
_PART_ROUTES: dict[tuple[str, str, str], Callable[..., Answer]] = {
    ("GET", "tool-calls", ""): call_routes.show,
    ("POST", "tool-calls", "claim"): call_routes.claim,
    ("POST", "tool-calls", "result"): call_routes.settle,
    ("GET", "gate-checks", ""): check_routes.show,
    ("POST", "gate-checks", "verdicts"): check_routes.answer_verdict,
}


def answer_request(server: FakeServer, method: str, path: str, body: Json) -> Answer:
    """The answer to a request; Refusal where there is none."""
    first, *rest = [*path.strip("/").split("/"), ""]
    if (method, first, rest) == ("POST", "runs", [""]):
        return run_routes.start(server, body)
    if (method, first) == ("POST", "evaluate"):
        return check_routes.evaluate(server, rest[0], body)
    if (method, first) == ("POST", "reviews") and rest[1:2] == ["withdraw"]:
        return run_routes.withdraw(server, rest[0])
    if (method, first, rest[:-1]) == ("GET", "policies", ["default", "versions", "1"]):
        return run_routes.show_policy(server)
    run = server.runs.get(rest[0]) if first == "runs" else None
    if run is not None:
        route = _RUN_ROUTES.get((method, "/".join(rest[1:]).strip("/")))
        if route is not None:
            return route(server, run, body)
        if (method, rest[1], rest[3:4]) == ("POST", "notes", ["read"]):
            return note_routes.acknowledge(run, rest[2])
        parts = run.calls if rest[1] == "tool-calls" else run.checks
        at = parts.get(rest[2]) if len(rest) > 2 else None
        route = _PART_ROUTES.get((method, rest[1], rest[3] if len(rest) > 3 else ""))
        if at is not None and route is not None:
            return route(server, run, at, body)
    raise Refusal("not-found", 404, "Nothing is found at this address.")
