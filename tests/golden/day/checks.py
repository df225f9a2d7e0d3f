"""Quality gates: passed, failed, exhausted, begun again, skipped; warnings, violations."""

from __future__ import annotations

from typing import Any

from tests.golden.day.administration import ABSENT
from tests.golden.stage import Stage

FAIL = {"text": "GATE_REVIEW: FAIL - No test covers the retry"}
PASS = {"text": "GATE_REVIEW: PASS - 214 tests, all green"}


def play(stage: Stage) -> None:
    stage.begin("09_checks", hour=6)
    run = stage.kept["checked"] = stage.start_run(task="Add a retry")
    stage.step(run, 1)
    passed = _open(stage, run, "style", "tests-pass")
    path = f"/runs/{run}/gate-checks"
    stage.ask("robo", f"GET {path}/{passed}")
    stage.refuse("robo", f"GET {path}/{ABSENT}", status=404)
    stage.refuse("robo", f"POST {path}", {"gates": ["no-such-gate"]})
    _tell(stage, run, passed, PASS)
    stage.refuse("robo", f"POST {path}/{passed}/verdicts", PASS, status=409)
    _tell(stage, run, _open(stage, run, "notes"), FAIL)
    warned = _tell(stage, run, _open(stage, run, "style"), FAIL)
    for warning in warned["advisory_warnings"]:
        read = f"/runs/{run}/warnings"
        stage.ask("bob", f"POST {read}/{warning['id']}/acknowledge")
        stage.refuse("bob", f"POST {read}/{ABSENT}/acknowledge", status=404)
    _tell(stage, run, _open(stage, run, "style"), FAIL)
    exhausted = _open(stage, run, "tests-pass")
    for action in ("retry", "skip"):
        _tell(stage, run, exhausted, FAIL)
        told = _tell(stage, run, exhausted, FAIL)
        stage.rule("bob", told["review"]["id"], action, note="Known flake")
    left = stage.start_run(task="Add another retry")
    waits = _open(stage, left, "tests-pass", step=0)
    _tell(stage, left, waits, FAIL)
    stage.kept["exhausted"] = _tell(stage, left, waits, FAIL)["review"]["id"]


def _open(stage: Stage, run: str, *gates: str, step: int = 1) -> str:
    body = {"step": step, "gates": list(gates)}
    return str(stage.ask("robo", f"POST /runs/{run}/gate-checks", body)["id"])


def _tell(stage: Stage, run: str, check: str, body: dict[str, Any]) -> Any:
    return stage.ask("robo", f"POST /runs/{run}/gate-checks/{check}/verdicts", body)
