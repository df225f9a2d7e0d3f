"""Policies: made, checked, compared, activated by two people, assigned, limits raised."""

from __future__ import annotations

from typing import Any

from tests.golden.stage import Stage

GATES: dict[str, Any] = {
    "tests-pass": {
        "name": "Test suite",
        "severity": "critical",
        "criteria": ["Every test passes", "New code has a test"],
    },
    "style": {"name": "Style", "severity": "high", "criteria": ["The linter is quiet"]},
    "notes": {"name": "Notes", "severity": "low", "criteria": ["The log is kept"]},
}
DEFAULT: dict[str, Any] = {
    "gates": GATES,
    "limits": {"project_day": {"tokens": 900_000_000}},
    "reviews": {"expires_after_s": 28_800},
    "runs": {"abandon_after_s": 36_000},
    "tools": {"idempotent": ["mcp__tickets__read"], "grant_expires_s": 600},
}
CAREFUL: dict[str, Any] = {
    "continue": {"max_consecutive_steps": 4, "checkpoint_interval_steps": 2},
    "four_eyes": {"policy": True},
}
PAIRED: dict[str, Any] = {
    "four_eyes": {"approvals": 2, "severity": ["critical", "high", "medium", "low"]},
    "budget": {"time_ms": None},
}
ROBO: dict[str, Any] = {"limits": {"agent_day": {"tokens": 20_000}}}


def play(stage: Stage) -> None:
    stage.begin("02_policies", hour=1)
    stage.ask("robo", "GET /policies/schema.json")
    _make_versions(stage)
    _ask_second_manager(stage)
    _assign(stage)
    stage.ask("bob", "GET /policies")
    stage.ask("bob", "GET /policies/careful")
    stage.refuse("bob", "GET /policies/absent", status=404)
    stage.ask("bob", "GET /policies/careful/versions")
    stage.refuse("bob", "GET /policies/absent/versions", status=404)
    stage.ask("bob", "GET /policies/careful/versions/1")
    stage.refuse("bob", "GET /policies/careful/versions/99", status=404)
    stage.ask("bob", "GET /policies/default/diff?from=1&to=2")
    stage.refuse("bob", "GET /policies/absent/diff?from=1&to=2", status=404)


def _make_versions(stage: Stage) -> None:
    stage.ask("alice", "POST /policies/validate", {"document": DEFAULT})
    wrong = {"document": {"continue": {"min_coherence": 2}, "colour": "red"}}
    stage.ask("alice", "POST /policies/validate", wrong)
    stage.refuse("alice", "POST /policies/validate", {"yaml": "a: [", "document": {}})
    path = "/policies/default/versions"
    body = {"document": DEFAULT, "note": "Gates of the shop", "activate": True}
    stage.ask("alice", f"POST {path}", body)
    stage.refuse("alice", f"POST {path}", body, status=409)
    stage.refuse("alice", f"POST {path}", wrong)
    stage.refuse("bob", f"POST {path}", body, status=403)
    careful = {"document": CAREFUL, "note": "Two eyes more", "activate": True}
    stage.ask("alice", "POST /policies/careful/versions", careful)
    paired = {"document": PAIRED, "note": "Two people", "activate": True}
    stage.ask("alice", "POST /policies/paired/versions", paired)
    limited = {"document": ROBO, "note": "Small", "activate": True}
    stage.ask("alice", "POST /policies/small/versions", limited)


def _ask_second_manager(stage: Stage) -> None:
    path = "/policies/careful/versions"
    for number, steps in ((2, 5), (3, 6), (4, 7)):
        document = {
            **CAREFUL,
            "continue": {
                "max_consecutive_steps": steps,
                "checkpoint_interval_steps": 2,
            },
        }
        body = {"yaml": _write_yaml(document), "note": f"{steps} steps"}
        stage.ask("alice", f"POST {path}", body)
        activated = f"{path}/{number}/activate"
        asked = stage.ask("alice", f"POST {activated}", {"note": "Please look"})
        if number == 2:
            stage.refuse("bob", f"POST {activated}", {"note": "Me"}, status=403)
            review = asked["review"]
            stage.rule("alice", review, "approve", note="My own", status=403)
            stage.rule("erin", review, "approve", note="Fine")
        elif number == 3:
            stage.rule("erin", asked["review"], "deny", note="Too many")


def _write_yaml(document: dict[str, Any]) -> str:
    steps = document["continue"]["max_consecutive_steps"]
    return (
        f"continue:\n  max_consecutive_steps: {steps}\n  checkpoint_interval_steps: 2\n"
        "four_eyes:\n  policy: true\n"
    )


def _assign(stage: Stage) -> None:
    stage.ask("alice", "GET /policies/assignments")
    stage.refuse("nobody", "GET /policies/assignments", status=401)
    rows = [
        {"match": {"agent": "rita"}, "policy": "careful"},
        {"match": {"intent": "docs"}, "policy": "small"},
        {"match": {"intent": "security"}, "policy": "paired"},
    ]
    stage.ask("alice", "PUT /policies/assignments?preview=true", rows)
    stage.ask("alice", "PUT /policies/assignments", rows)
    wrong = [{"match": {"agent": "rita"}, "policy": "absent"}]
    stage.refuse("alice", "PUT /policies/assignments", wrong)
    stage.ask("bob", "GET /limits")
    stage.refuse("nobody", "GET /limits", status=401)
    more = {"scope": "project_day", "tokens": 1000, "reason": "For the release"}
    stage.ask("alice", "POST /limits/raise", more)
    stage.refuse("bob", "POST /limits/raise", more, status=403)
    good = {**more, "for_good": True, "policy": "default"}
    stage.ask("alice", "POST /limits/raise", good)
