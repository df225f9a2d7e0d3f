"""Tool calls: judged before they run, and claimed once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checkrail.answers import CallAnswer, CallStanding, Claim, ReviewRef, Ruling
from checkrail.errors import CheckrailError, ProtocolError
from checkrail.flows.call_requests import (
    build_claim_request,
    build_command_fields,
    build_edit_fields,
    build_judge_request,
    build_multi_edit_fields,
    build_tool_fields,
    call_standing,
)
from checkrail.flows.rulings import get_deadline, send_when_running, wait_for_ruling
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import catch_up
from checkrail.outcomes import Blocked, Denied, StillWaiting
from checkrail.transport.effects import Flow
from checkrail.transport.jcs import to_jcs

TITLE_LIMIT = 200


@dataclass(frozen=True, kw_only=True)
class GrantedCall:
    """A call that may run: `fields` is what may run, as asked for or as amended."""

    id: str
    kind: str
    tool: str
    fields: Mapping[str, Any]
    answer: CallAnswer | None = None
    ruling: Ruling | None = None
    claim: Claim | None = None

    @property
    def amended(self) -> bool:
        return self.ruling is not None and self.ruling.amended is not None


def check_command(
    run: RunCore,
    command: str,
    *,
    tool: str = "Bash",
    arguments: Mapping[str, Any] | None = None,
    confirm: bool = False,
    timeout: float | None = None,
) -> Flow[GrantedCall]:
    """Ask whether a command may run; it may once this returns. Raises Blocked, Denied."""
    fields = build_command_fields(command, tool=tool, arguments=arguments)
    return (yield from _check_call(run, fields, confirm=confirm, timeout=timeout))


def check_tool(
    run: RunCore,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    arguments_json: str | None = None,
    confirm: bool = False,
    timeout: float | None = None,
) -> Flow[GrantedCall]:
    """Ask whether a tool may be used; it may once this returns. Raises Blocked, Denied."""
    fields = build_tool_fields(tool, arguments, arguments_json=arguments_json)
    return (yield from _check_call(run, fields, confirm=confirm, timeout=timeout))


def check_edit(
    run: RunCore,
    file_path: str,
    content: str,
    *,
    tool: str = "Edit",
    diff_lines: int | None = None,
    confirm: bool = False,
    timeout: float | None = None,
) -> Flow[GrantedCall]:
    """Ask whether a file may get this content; it may once this returns."""
    fields = build_edit_fields(file_path, content, tool=tool, diff_lines=diff_lines)
    return (yield from _check_call(run, fields, confirm=confirm, timeout=timeout))


def check_multi_edit(
    run: RunCore,
    file_path: str,
    original: str,
    edits: Sequence[Mapping[str, Any]],
    *,
    tool: str = "MultiEdit",
    confirm: bool = False,
    timeout: float | None = None,
) -> Flow[GrantedCall]:
    """Ask about several edits (`old`, `new`, `replace_all`) of one text, all or none."""
    fields = build_multi_edit_fields(file_path, original, edits, tool=tool)
    return (yield from _check_call(run, fields, confirm=confirm, timeout=timeout))


def _check_call(
    run: RunCore, fields: Mapping[str, Any], *, confirm: bool, timeout: float | None
) -> Flow[GrantedCall]:
    """Ask about a call, wait for a person where one is needed, and claim it.

    With `confirm` a person is asked in any case; nothing makes the gates ask less.
    """
    until = get_deadline(run, timeout)
    yield from catch_up(run, until)
    body = {**fields, "confirm": True} if confirm else fields
    answer = yield from send_when_running(
        run, CallAnswer, build_judge_request(run, body), until
    )
    run.store_notes(answer.notes)
    if answer.decision == "block":
        raise Blocked(answer)
    granted = GrantedCall(
        id=answer.id,
        kind=fields["kind"],
        tool=fields["tool"],
        fields={n: v for n, v in fields.items() if n not in ("kind", "tool")},
        answer=answer,
    )
    if answer.replayed:
        return granted  # its result is stored: nothing has to run, nothing is claimed
    ruling, digest = None, answer.digest
    if answer.decision == "require-confirmation":
        review = answer.review and replace(answer.review, title=_build_title(fields))
        ruling = yield from _wait_for_confirmation(run, review, answer.id, until)
        digest = _get_granted_digest(ruling, asked=answer.digest)
    elif answer.grant is None:
        raise ProtocolError(f"The call is {answer.decision}, but nothing was granted.")
    claim = yield from _claim_call(run, answer.id, digest, until)
    granted = replace(granted, ruling=ruling, claim=claim)
    # A text that the model wrote counts as the server has read it.
    if granted.amended or "arguments_json" in fields:
        granted = replace(granted, fields=claim.call)
    return granted


def _build_title(fields: Mapping[str, Any]) -> str:
    """Such as `Bash: rm -rf build`, on one line."""
    named = ("command", "file_path", "arguments", "arguments_json")
    asked = next((fields[name] for name in named if name in fields), "")
    text = asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False)
    line = " ".join(f"{fields['tool']}: {text}".split())
    return line if len(line) <= TITLE_LIMIT else line[: TITLE_LIMIT - 1] + "…"


def _wait_for_confirmation(
    run: RunCore, review: ReviewRef | None, call_id: str, until: float
) -> Flow[Ruling]:
    if review is None:
        raise ProtocolError(
            "A person is to confirm the call, but no review says where."
        )
    try:
        ruling = yield from wait_for_ruling(run, review, until)
    except StillWaiting:
        raise StillWaiting(review, call_id=call_id) from None
    if ruling.action == "deny":
        raise Denied(review, ruling)
    return ruling


def _get_granted_digest(ruling: Ruling, *, asked: str) -> str:
    """What was granted: the call as it was asked for, or as the ruling changed it."""
    if ruling.action == "approve":
        return asked
    digest = (ruling.amended or {}).get("digest")
    if not isinstance(digest, str):
        raise ProtocolError("The call was amended, but the answer does not say how.")
    return digest


def _claim_call(run: RunCore, call_id: str, digest: str, until: float) -> Flow[Claim]:
    claim = yield from send_when_running(
        run, Claim, build_claim_request(run, call_id, digest), until
    )
    if (claim.id, claim.digest) != (call_id, digest):
        raise ProtocolError(f"Claimed {digest} of {call_id}, got {claim.digest}.")
    return claim


def resume_call(
    run: RunCore, call_id: str, *, timeout: float | None = None
) -> Flow[GrantedCall]:
    """Take up a call of another process, or one that was left with StillWaiting."""
    until = get_deadline(run, timeout)
    stands = yield from call_standing(run, call_id)
    ruling = None
    if stands.review is not None and stands.state not in ("claimed", "settled"):
        review = ReviewRef(id=stands.review, kind="confirmation")
        ruling = yield from _wait_for_confirmation(run, review, call_id, until)
        stands = yield from call_standing(run, call_id)
    # Of several edits the original is not kept: there the caller has to know it.
    if stands.kind != "multi_edit" and not is_call_kept_whole(run.id, stands):
        raise CheckrailError(
            "The call cannot be taken up: it holds a secret, which the server does not "
            "keep. Ask about it again."
        )
    claim = yield from _claim_call(run, call_id, stands.digest, until)
    return GrantedCall(
        id=call_id,
        kind=stands.kind,
        tool=stands.tool,
        fields=claim.call,
        ruling=ruling,
        claim=claim,
    )


def is_call_kept_whole(run_id: str, stands: CallStanding) -> bool:
    """Whether its digest, to which its grant is bound, is that of the call as it stands."""
    call = {"run": run_id, "kind": stands.kind, "tool": stands.tool, **stands.call}
    # Servers before format 2 of the ledger wrote the second of them.
    before = json.dumps(call, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digests = (
        f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        for text in (to_jcs(call), before)
    )
    return stands.digest in digests
