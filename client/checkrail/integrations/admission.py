"""Calls of a framework, put to Checkrail: once each, however often they are asked about.

A framework starts a node or a process again, and asks anew. The same call of the same
run then finds the review, the ruling and the grant of the first time. What was claimed
and not yet told may go on, what was told to have succeeded never runs again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from checkrail.answers import CallAnswer, Claim, Review, Ruling
from checkrail.errors import ProtocolError
from checkrail.flows.call_requests import (
    build_claim_request,
    build_judge_request,
    call_standing,
)
from checkrail.flows.reviewer_words import encode_sorted, quote_note
from checkrail.flows.rulings import get_deadline, send_when_running, wait_for_ruling
from checkrail.flows.run_core import RunCore, build_reference
from checkrail.flows.steps import catch_up
from checkrail.integrations.outcomes import (
    Admitted,
    Changed,
    Outcome,
    Refused,
    Stored,
    WantedCall,
)
from checkrail.outcomes import Blocked, Denied, StillWaiting
from checkrail.problems import GrantExpired, GrantSpent, Invalid, Malformed, TooLarge
from checkrail.transport.effects import Flow, Request, post

TITLE_LIMIT = 300
DETAIL_LIMIT = 20_000
TOO_LONG = (
    f"Not run: a person has to see all of it, and more than {DETAIL_LIMIT:,} characters "
    "cannot be shown. Make the call shorter, or several calls of it."
)

_Judged = CallAnswer | Admitted | Refused

# By what they are: calls that a person put in place of others, granted and not yet made;
_promises: WeakKeyDictionary[RunCore, dict[str, str]] = WeakKeyDictionary()
# and calls that were claimed in one place of a framework, and run in another.
_handed: WeakKeyDictionary[RunCore, dict[str, Admitted]] = WeakKeyDictionary()


class _JudgeAgain(Exception):
    """The permission is used up, but not for this: the call has to be judged again."""


def admit(
    run: RunCore, wanted: Sequence[WantedCall], *, timeout: float | None = None
) -> Flow[list[Outcome]]:
    """Ask about all of them, so that people see all of them; then wait for each.

    Raises StillWaiting when nobody ruled within `timeout`: asked again, it goes on from
    there.
    """
    until = get_deadline(run, timeout)
    yield from catch_up(run, until)
    judged: list[_Judged] = []
    for call in wanted:
        promised = yield from _claim_promised(run, call, until)
        judged.append(promised or (yield from _judge(run, call, 1, until)))
    outcomes: list[Outcome] = []
    for call, answer in zip(wanted, judged, strict=True):
        outcomes.append((yield from _get_outcome(run, call, answer, until)))
    return outcomes


def _judge(run: RunCore, call: WantedCall, attempt: int, until: float) -> Flow[_Judged]:
    fields = {"kind": "tool", "tool": call.tool, "arguments_json": call.arguments_json}
    request = build_judge_request(run, fields)
    try:
        keyed = _add_key(request, run, call.id, encode_sorted(fields), str(attempt))
        answer = yield from send_when_running(run, CallAnswer, keyed, until)
    except (Invalid, Malformed, TooLarge) as problem:
        return Refused(reason=f"Not run: the call cannot be judged. {problem}")
    run.store_notes(answer.notes)
    return answer


def _get_outcome(
    run: RunCore, call: WantedCall, answer: _Judged, until: float
) -> Flow[Outcome]:
    attempt = 1
    notes: list[str] = []
    while isinstance(answer, CallAnswer):
        if answer.decision == "block":
            return Refused(reason=f"Not run, blocked: {Blocked(answer)}")
        if answer.replayed:
            return Stored(output=answer.output)
        confirmed = answer.decision == "require-confirmation"
        try:
            if call.person and not confirmed:
                if len(_build_detail(call)) > DETAIL_LIMIT:
                    return Refused(reason=TOO_LONG)
                notes.append((yield from _ask_for_approval(run, call, until)))
                call = replace(call, person=False)  # whatever follows, they said yes
            outcome = yield from _claim_granted(run, call, answer, until)
            if isinstance(outcome, Admitted):
                return _add_notes(outcome, *notes)
            return outcome
        except Denied as denied:
            return Refused(reason=f"Not run: {denied}")
        except (GrantExpired, _JudgeAgain):
            attempt += 1
            answer = yield from _judge(run, call, attempt, until)
    return answer


def _claim_granted(
    run: RunCore, call: WantedCall, answer: CallAnswer, until: float
) -> Flow[Outcome]:
    if answer.decision == "require-confirmation":
        return (yield from _wait_for_confirmation(run, call, answer, until))
    if answer.grant is None:
        raise ProtocolError(f"The call is {answer.decision}, but nothing was granted.")
    return (yield from _claim(run, call, answer.id, answer.digest, until))


def _wait_for_confirmation(
    run: RunCore, call: WantedCall, answer: CallAnswer, until: float
) -> Flow[Outcome]:
    review = answer.review
    if review is None:
        raise ProtocolError(
            "A person is to confirm the call, but no review says where."
        )
    try:
        ruling = yield from wait_for_ruling(run, review, until)
    except StillWaiting:
        raise StillWaiting(review, call_id=answer.id) from None
    if ruling.action == "deny":
        raise Denied(review, ruling)
    stands = yield from call_standing(run, answer.id)
    if ruling.action == "amend" and not call.editable:
        arguments = _get_arguments(stands.call)
        promises = _promises.setdefault(run, {})
        promises[_compute_fingerprint(call.tool, encode_sorted(arguments))] = answer.id
        return Changed(arguments=arguments, ruling=ruling)
    outcome = yield from _claim(run, call, answer.id, stands.digest, until)
    if isinstance(outcome, Admitted):
        return _add_notes(outcome, quote_note(ruling))
    return outcome


def _add_notes(outcome: Admitted, *notes: str) -> Admitted:
    return replace(outcome, note="\n".join(filter(None, (*notes, outcome.note))))


def _claim_promised(
    run: RunCore, call: WantedCall, until: float
) -> Flow[Admitted | None]:
    """Whether this is the very call that a person put in place of an earlier one."""
    asked = _compute_fingerprint(
        call.tool, encode_sorted(_parse_arguments(call.arguments_json))
    )
    call_id = _promises.get(run, {}).pop(asked, None)
    if call_id is None:
        return None
    stands = yield from call_standing(run, call_id)
    if stands.state != "granted":
        return None
    outcome = yield from _claim(run, call, call_id, stands.digest, until)
    return outcome if isinstance(outcome, Admitted) else None


def hand_over(run: RunCore, call: WantedCall, outcome: Outcome) -> None:
    """What was claimed here runs elsewhere: there it is not asked about again."""
    if isinstance(outcome, Admitted):
        handed = _handed.setdefault(run, {})
        handed[_compute_fingerprint(call.tool, encode_sorted(outcome.arguments))] = (
            outcome
        )


def take_over(run: RunCore, call: WantedCall) -> Flow[Admitted | None]:
    """The same call, if it was claimed elsewhere and nobody has told its result yet."""
    asked = _compute_fingerprint(
        call.tool, encode_sorted(_parse_arguments(call.arguments_json))
    )
    handed = _handed.get(run, {}).pop(asked, None)
    if handed is None:
        return None
    stands = yield from call_standing(run, handed.call_id)
    if stands.state != "claimed":
        return None
    return _add_notes(_build_admitted(call, handed.call_id, stands.call), handed.note)


def _ask_for_approval(run: RunCore, call: WantedCall, until: float) -> Flow[str]:
    """The note of whoever approved it."""
    title = f"May {call.tool} run?"
    review, ruling = yield from ask_person(
        run, "request", call.id, title=title, detail=_build_detail(call), until=until
    )
    if ruling.action == "deny":
        raise Denied(build_reference(review), ruling)
    return quote_note(ruling)


def _build_detail(call: WantedCall) -> str:
    """All that a person decides on: what is not shown cannot be approved."""
    return f"{call.description}\n\n{call.arguments_json}".strip()


def ask_person(
    run: RunCore, kind: str, asked_id: str, *, title: str, detail: str, until: float
) -> Flow[tuple[Review, Ruling]]:
    """A request or a question of this id, put once; waits for the ruling."""
    body = {"kind": kind, "title": title[:TITLE_LIMIT], "detail": detail[:DETAIL_LIMIT]}
    request = post(run.build_path("reviews"), body)
    keyed = _add_key(request, run, asked_id, encode_sorted(body))
    review = yield from send_when_running(run, Review, keyed, until)
    return review, (yield from wait_for_ruling(run, build_reference(review), until))


def _claim(
    run: RunCore, call: WantedCall, call_id: str, digest: str, until: float
) -> Flow[Outcome]:
    try:
        claim = yield from send_when_running(
            run, Claim, build_claim_request(run, call_id, digest), until
        )
    except GrantSpent:
        return (yield from _get_earlier_claim(run, call, call_id))
    if (claim.id, claim.digest) != (call_id, digest):
        raise ProtocolError(f"Claimed {digest} of {call_id}, got {claim.digest}.")
    return _build_admitted(call, call_id, claim.call)


def _get_earlier_claim(run: RunCore, call: WantedCall, call_id: str) -> Flow[Outcome]:
    stands = yield from call_standing(run, call_id)
    if stands.state == "claimed":
        return _build_admitted(call, call_id, stands.call)
    if stands.state == "settled" and stands.ok is False:
        raise _JudgeAgain
    if stands.state == "settled":
        return Refused(
            reason="Not run again: this very call was made before, and it succeeded. "
            "Look at what it did before you ask for it once more."
        )
    return Refused(reason=f"Not run: the permission is {stands.state}.")


def _build_admitted(
    call: WantedCall, call_id: str, granted: Mapping[str, Any]
) -> Admitted:
    arguments = _get_arguments(granted)
    amended = arguments != _parse_arguments(call.arguments_json)
    return Admitted(call_id=call_id, arguments=arguments, amended=amended)


def _get_arguments(granted: Mapping[str, Any]) -> dict[str, Any]:
    arguments = granted.get("arguments")
    if not isinstance(arguments, dict):
        raise ProtocolError("A tool call was granted without its arguments.")
    return arguments


def _parse_arguments(arguments_json: str) -> object:
    """None where it is no JSON: the gates say so, with line and column."""
    try:
        arguments: object = json.loads(arguments_json)
    except ValueError:
        return None
    return arguments


def _compute_fingerprint(*parts: str) -> str:
    return hashlib.sha256(encode_sorted(parts).encode()).hexdigest()


def _add_key(request: Request, run: RunCore, *parts: str) -> Request:
    """With a key that says what it is: sent by another process, it is the same."""
    key = f"{run.id}:{_compute_fingerprint(*parts)}"
    return replace(request, headers={**request.headers, "Idempotency-Key": key})
