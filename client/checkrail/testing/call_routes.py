"""The fake server's routes for tool calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrail.testing.fakes import FakeReview, FakeRun, Refusal
from checkrail.testing.note_routes import deliver_notes
from checkrail.testing.scripts import Scripted
from checkrail.testing.server import Answer, FakeServer, take_scripted
from checkrail.testing.shapes import (
    AT,
    POLICY,
    REMAINING,
    Json,
    build_call_finding,
    compute_digest,
    make_id,
)

_TOOLS = {"command": "Bash", "edit": "Edit", "multi_edit": "MultiEdit"}


@dataclass
class FakeCall:
    run: FakeRun
    kind: str
    tool: str
    fields: Json
    decision: str
    id: str = field(default_factory=make_id)
    grant: str | None = None
    amended: Json | None = None
    spent: bool = False
    result: Json | None = None
    review: FakeReview | None = None

    def issue_grant(self, parts: Mapping[str, Any] | None = None) -> None:
        self.grant = make_id()
        if parts is not None:
            self.amended = {**self.fields, **parts}

    def apply_ruling(self, script: Scripted) -> Json:
        """What a ruling on this call adds to what was ruled."""
        if script.action not in ("approve", "amend"):
            return {}
        self.issue_grant(script.amended)
        amended = self.amended and {**self.amended, "digest": self.digest}
        return {"grant": self.grant, "amended": amended}

    @property
    def digest(self) -> str:
        """Of what may run: as asked for, or as amended."""
        return compute_digest(
            self.run.id, self.kind, self.tool, self.amended or self.fields
        )

    @property
    def content(self) -> Json:
        shown = self.amended or self.fields
        return {name: part for name, part in shown.items() if name != "original"}

    @property
    def state(self) -> str:
        if self.result is not None:
            return "settled"
        if self.grant is None:
            waits = self.review is not None and self.review.state == "open"
            return "waiting" if waits else "refused"
        return "claimed" if self.spent else "granted"

    def refuse_ungranted(self) -> None:
        if self.state == "waiting" and self.review is not None:
            review = self.review.build_reference()
            raise Refusal("review-open", 409, "A person is asked.", review=review)
        if self.grant is None:
            raise Refusal("forbidden", 403, "The call must not run.")


def judge(server: FakeServer, run: FakeRun, body: Json) -> Answer:
    run.refuse_unless_running(calling=True)
    server.refuse_halted()
    scripted = take_scripted(server.calls, "allow", "decision")
    fields = _build_fields(body)
    if "arguments_json" in fields:  # no JSON object: the server blocks it
        scripted = {"decision": "block"}
    elif body.get("confirm") and scripted["decision"] != "block":
        # As on the server: the wish can only add, and nothing is replayed then.
        scripted = {"decision": "require-confirmation"}
    call = FakeCall(
        run=run,
        kind=body["kind"],
        tool=body.get("tool") or _TOOLS[body["kind"]],
        fields=fields,
        decision=scripted["decision"],
    )
    run.calls[call.id] = call
    if call.decision == "require-confirmation":
        content = {"kind": "confirmation", "call": call.id, "shown": call.content}
        call.review = server.open_review(
            run, "confirmation", call.tool, content, then=call.apply_ruling
        )
    elif call.decision != "block" and not scripted.get("replayed"):
        call.issue_grant()
    found = [] if call.decision == "allow" else [build_call_finding(call.decision)]
    return 201, {
        "id": call.id,
        "run": run.id,
        "findings": found,
        "digest": call.digest,
        "review": call.review.build_reference() if call.review else None,
        "grant": call.grant,
        "grant_expires_at": AT if call.grant else None,
        "replayed": False,
        "output": None,
        "budget_remaining": REMAINING,
        "preview": None,
        "policy": POLICY,
        "notes": deliver_notes(run, "call"),
        "receipt": run.make_receipt(),
        **scripted,
    }


def _build_fields(body: Json) -> Json:
    """The call as it is shown, and as its digest covers it."""
    beside = ("kind", "tool", "confirm")
    fields = {name: part for name, part in body.items() if name not in beside}
    arguments = _parse_object(fields.get("arguments_json"))
    if arguments is not None:
        del fields["arguments_json"]
        fields["arguments"] = arguments
    if body["kind"] == "edit":
        fields.setdefault("diff_lines", len(body["content"].splitlines()))
    for edit in fields.get("edits", ()):
        edit.setdefault("replace_all", False)
    return fields


def _parse_object(text: str | None) -> Json | None:
    try:
        read = json.loads(text or "")
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def show(_server: FakeServer, run: FakeRun, call: FakeCall, _body: Json) -> Answer:
    return 200, {
        "id": call.id,
        "run": run.id,
        "kind": call.kind,
        "tool": call.tool,
        "decision": call.decision,
        "state": call.state,
        "digest": call.digest,
        "call": call.content,
        "review": call.review.id if call.review else None,
        "grant": call.grant,
        "grant_expires_at": AT if call.grant else None,
        "ok": None if call.result is None else call.result["ok"],
    }


def claim(server: FakeServer, run: FakeRun, call: FakeCall, body: Json) -> Answer:
    run.refuse_closed()
    call.refuse_ungranted()
    if body["digest"] != call.digest:
        raise Refusal("grant-mismatch", 409, "Another digest was granted.")
    if call.spent:
        raise Refusal("grant-spent", 409, "The grant is spent already.")
    run.refuse_unless_running(calling=True)
    server.refuse_halted()
    call.spent = True
    return 200, {
        "id": call.id,
        "run": run.id,
        "grant": call.grant,
        "digest": call.digest,
        "kind": call.kind,
        "tool": call.tool,
        "call": call.content,
        "claimed_at": AT,
        "receipt": run.make_receipt(),
    }


def settle(_server: FakeServer, run: FakeRun, call: FakeCall, body: Json) -> Answer:
    call.refuse_ungranted()
    if call.result not in (None, body):
        raise Refusal("grant-spent", 409, "Another result is stored already.")
    run.refuse_closed()
    call.spent, call.result = True, body
    return 200, {
        "id": call.id,
        "run": run.id,
        "ok": body["ok"],
        "budget_remaining": REMAINING,
        "receipt": run.make_receipt(),
    }
