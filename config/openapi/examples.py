"""Bodies and answers of the main path, as the document shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RUN = "0199f2d4-6c1b-7a3e-9d52-3f8a1c7e5b40"
_REVIEW = "0199f2d5-0b7c-7c19-8e44-91d2a6f0c3e8"
_CALL = "0199f2d5-8e30-7f02-b1a9-5c6d7e8f9a01"
_GRANT = "0199f2d6-1a44-7d55-a0c7-2b3c4d5e6f70"
_HASH = "6b1f0c5d2e4a98773c0de1f5a2b49687d0c3e8f1a5b2947663d8c1f0e5a7b294"
_POLICY = {"name": "default", "version": 3, "hash": f"sha256:{_HASH}"}
_LEFT = {"tokens": 998170, "tool_calls": 9998, "time_ms": 3595800, "cost_usd": "9.9879"}

_NOTE = {
    "id": "0199f2d6-4c02-7e61-93b5-0d1e2f3a4b5c",
    "text": "Leave the fixtures as they are.",
    "by": "alice",
    "at": "2026-11-15T09:31:02.115000Z",
    "tags": ["scope"],
}

_HALT = {
    "id": "0199f2d7-2b90-7a14-8f3c-6e5d4c3b2a19",
    "reason": "It deletes what it should test.",
    "by": "bob",
    "at": "2026-11-15T09:32:40.500000Z",
}


def _build_budget(left: Mapping[str, Any]) -> dict[str, Any]:
    limits = {"tokens": 10**6, "tool_calls": 10**4, "time_ms": 3_600_000}
    parts: dict[str, Any] = {
        name: {"limit": limit, "used": limit - left[name], "remaining": left[name]}
        for name, limit in limits.items()
    }
    money = {"limit": "10.00", "used": "0.0121", "remaining": left["cost_usd"]}
    return {**parts, "cost_usd": money}


def _build_body(**examples: Any) -> dict[str, Any]:
    return {name: {"value": value} for name, value in examples.items()}


# By operation: bodies by a short name, one answer where it goes well.
BODIES: Mapping[str, Any] = {
    "start_run": _build_body(
        task_alone={"task": "Fix the flaky login test"},
        all={
            "task": "Fix the flaky login test",
            "intent": "bug-fix",
            "model": "some-model",
            "budget": {"tokens": 1_000_000, "cost_usd": "10.00"},
            "labels": {"repo": "shop"},
        },
    ),
    "report_step": _build_body(
        step={
            "number": 7,
            "tokens": 1830,
            "tool_calls": 2,
            "duration_ms": 4200,
            "cost_usd": "0.0121",
            "rework": True,
            "summary": "Ran the failing test, found the race",
        }
    ),
    "report_steps": _build_body(
        steps={
            "steps": [
                {"number": 1, "tokens": 900, "tool_calls": 1},
                {"number": 2, "tokens": 1100, "tool_calls": 3},
            ]
        }
    ),
    "save_checkpoint": _build_body(
        checkpoint={
            "step": 25,
            "label": "before migration",
            "state": {"branch": "fix-login"},
        }
    ),
    "record_violation": _build_body(
        violation={
            "rule": "no-prints",
            "severity": "low",
            "description": "Left a print in the handler",
            "auto_corrected": True,
        }
    ),
    "finish_run": _build_body(
        finish={
            "outcome": "completed",
            "summary": "The race is gone.",
            "tests": {"ran": True, "passed": 10},
            "diff": {"lines_added": 120, "lines_removed": 30, "files_changed": 4},
        }
    ),
    "ask_person": _build_body(
        question={
            "kind": "question",
            "title": "Which branch do I merge into?",
            "options": ["main", "release"],
        }
    ),
    "submit_plan": _build_body(
        plan={
            "title": "Remove what the old build left",
            "steps": [
                {
                    "purpose": "Remove old outputs",
                    "calls": [
                        {
                            "tool": "Bash",
                            "command": "rm -rf build/out-1",
                            "shape": "rm -rf build/out-#",
                            "count": 3,
                        }
                    ],
                    "paths": ["build"],
                }
            ],
            "limits": {"tool_calls": 3, "cost_usd": "1.00", "time_ms": 1_800_000},
        }
    ),
    "rule_review": _build_body(
        approve={
            "action": "approve",
            "version": 1,
            "content_digest": f"sha256:{_HASH}",
            "note": "Start with the fixtures.",
        }
    ),
    "rule_reviews": _build_body(
        deny={
            "items": [
                {"id": _REVIEW, "version": 1, "content_digest": f"sha256:{_HASH}"}
            ],
            "action": "deny",
            "note": "The folder is still in use.",
        }
    ),
    "write_agent_note": _build_body(
        note={"text": "Leave the fixtures as they are.", "tags": ["scope"]}
    ),
    "begin_halt": _build_body(
        project={"scope": {"project": True}, "reason": _HALT["reason"]},
        agent={"scope": {"agent": "robo"}, "reason": _HALT["reason"]},
        run={"scope": {"run": _RUN, "children": True}, "reason": _HALT["reason"]},
    ),
    "release_halt": _build_body(
        all={"reason": "The key is revoked."},
        in_stages={"reason": "The key is revoked.", "keep": [{"label": "team:shop"}]},
    ),
    "assign_review": _build_body(
        person={"to": "bob", "note": "The 2025 table is right."},
        role={"to": "role:reviewer", "how": "round_robin"},
    ),
    "snooze_review": _build_body(event={"until": "comment"}),
    "hand_over_review": _build_body(
        handover={"note": "I asked in the team; wait for their word."}
    ),
    "judge_tool_call": _build_body(
        command={"kind": "command", "command": "rm -rf build"},
        tool={
            "kind": "tool",
            "tool": "mcp__db__query",
            "arguments": {"sql": "DROP TABLE users"},
        },
        edit={"kind": "edit", "file_path": "a.py", "content": "x = 1\n"},
    ),
    "claim_tool_call": _build_body(claim={"digest": f"sha256:{_HASH}"}),
    "settle_tool_call": _build_body(
        result={"ok": True, "output": "removed", "duration_ms": 12}
    ),
    "open_gate_check": _build_body(check={"step": 7, "gates": ["code-quality"]}),
    "give_verdict": _build_body(
        text={"text": "GATE_REVIEW: FAIL - No test covers the retry"}
    ),
    "judge_turn": _build_body(
        turn={"finish_reason": "stop", "content": "Shall I delete the old table?"}
    ),
    "evaluate_command": _build_body(command={"command": "rm -rf build"}),
}
ANSWERS: Mapping[str, Any] = {
    "start_run": {
        "id": _RUN,
        "project": "shop",
        "agent": "robo",
        "parent_run": None,
        "children": {"running": 0, "total": 0},
        "task": "Fix the flaky login test",
        "intent": "bug-fix",
        "model": "some-model",
        "labels": {"repo": "shop"},
        "status": "running",
        "status_reason": None,
        "evaluations": [],
        "accepted": None,
        "policy": _POLICY,
        "budget": _build_budget(_LEFT),
        "steps": 0,
        "rework_steps": 0,
        "last_step": 0,
        "last_checkpoint_step": 0,
        "open_reviews": [],
        "allowances": [],
        "head": {"seq": 1, "hash": _HASH},
        "created_at": "2026-11-15T09:30:00.000000Z",
        "updated_at": "2026-11-15T09:30:00.000000Z",
        "finished_at": None,
        "url": f"http://127.0.0.1:8000/shop/runs/{_RUN}",
    },
    "wait_for_decision": {
        "run": _RUN,
        "run_status": "running",
        "state": "ruled",
        "review": {"id": _REVIEW, "kind": "confirmation", "version": 2},
        "ruling": {
            "id": "0199f2d6-0f11-7b88-9c20-7a8b9c0d1e2f",
            "action": "approve",
            "note": "Only the build folder.",
            "answer": None,
            "amended": None,
            "by": "alice",
            "at": "2026-11-15T09:31:12.480000Z",
            "grant": _GRANT,
        },
        "notes": [_NOTE],
    },
    "judge_tool_call": {
        "id": _CALL,
        "run": _RUN,
        "decision": "require-confirmation",
        "findings": [
            {
                "gate": "destructive",
                "decision": "require-confirmation",
                "message": "rm -rf deletes a folder and all that is in it.",
                "remediation": "Delete single files, or ask a person.",
                "details": {},
            }
        ],
        "digest": f"sha256:{_HASH}",
        "review": {
            "id": _REVIEW,
            "kind": "confirmation",
            "url": f"http://127.0.0.1:8000/shop/reviews/{_REVIEW}",
        },
        "grant": None,
        "grant_expires_at": None,
        "replayed": False,
        "output": None,
        "budget_remaining": _LEFT,
        "preview": None,
        "policy": _POLICY,
        "notes": [],
        "receipt": {"seq": 9, "hash": _HASH},
    },
    "write_agent_note": {
        **_NOTE,
        "state": "waiting",
        "delivered_at": None,
        "delivered_with": None,
        "delivered_step": None,
        "read_at": None,
    },
    "begin_halt": {
        **_HALT,
        "project": "shop",
        "scope": {
            "project": None,
            "agent": "robo",
            "label": None,
            "run": None,
            "children": False,
        },
        "state": "standing",
        "released_by": None,
        "released_at": None,
        "release_reason": None,
        "deadlines_moved_at": None,
    },
    "list_rulings": {
        "items": [
            {
                "id": _GRANT,
                "review": _REVIEW,
                "run": _RUN,
                "agent": "release-pilot",
                "kind": "confirmation",
                "severity": "high",
                "rule": "destructive",
                "rules": ["destructive"],
                "title": "rm -rf build",
                "action": "approve",
                "note": "The folder is made anew",
                "answer": None,
                "by": "alice",
                "opened_at": "2026-11-15T09:30:40.000000Z",
                "at": "2026-11-15T09:31:12.480000Z",
                "waited_ms": 32480,
                "read_ms": 11204,
                "outcome": {
                    "text": "The call ran, the run completed",
                    "call": "succeeded",
                    "run_status": "completed",
                    "accepted": True,
                    "regretted": False,
                },
                "url": f"http://127.0.0.1:8000/p/shop/reviews/{_REVIEW}/",
            }
        ],
        "next_cursor": None,
        "previous_cursor": None,
        "total": 1,
    },
}
# By the slug of a problem: what is refused with it.
PROBLEMS: Mapping[str, Any] = {
    "halted": {
        "type": "/problems/halted",
        "title": "A person has halted this",
        "status": 409,
        "detail": f"Halted by bob: {_HALT['reason']}",
        "halt": _HALT,
    },
    "limit-reached": {
        "type": "/problems/limit-reached",
        "title": "A limit is used up",
        "status": 429,
        "detail": (
            "This agent's tokens for today are used up: 80,120 of 80,000. Until "
            "2026-11-16 00:00 UTC, or a manager raises it, no run begins or is reopened."
        ),
        "limit": {
            "scope": "agent_day",
            "agent": "upgrade-lead",
            "run": None,
            "part": "tokens",
            "limit": 80_000,
            "used": 80_120,
            "begins_anew": "2026-11-16T00:00:00.000000Z",
        },
    },
}
