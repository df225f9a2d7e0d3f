"""Rule on several reviews by one action and one note.

Each goes through the one service of rulings with its own version and digest, and leaves
its own entry in the ledger. Nothing is ruled in bulk that is critical.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from accounts.auth import PersonPrincipal
from common.errors import DomainError, Forbidden, Invalid, NotFound
from common.responses import Reply
from ledger.writer.db_threads import run_in_db_thread
from reviews.bulk.results import Result, build_refused
from reviews.bulk.schemas import BulkAction, BulkItemIn
from reviews.errors import CriticalAlone
from reviews.models import RULINGS, Kind, Review, Severity
from reviews.schemas.reviews import RulingIn
from reviews.selectors import get_review_for_change
from reviews.serializers import build_ruling_answer
from reviews.services import submit_held_ruling, submit_ruling, submit_ruling_now

# What needs words or a text of its own for each review is ruled one by one.
ONE_BY_ONE = frozenset({"answer", "amend"})


def list_bulk_actions(kind: str) -> list[str]:
    """A plan is never approved unread among others: what it covers has to be seen."""
    alone = ONE_BY_ONE | ({"approve"} if kind == Kind.PLAN else frozenset())
    return [action for action in RULINGS[kind] if action not in alone]


@dataclass(slots=True, kw_only=True)
class Selection:
    """What is ruled by one action. `refused` says which cannot be ruled here, and why;
    `alike_keys` what each of the others is folded by in the queue."""

    refused: dict[str, DomainError] = field(default_factory=dict)
    alike_keys: dict[str, str] = field(default_factory=dict)
    _ruled: set[str] = field(default_factory=set)

    def is_folded(self, code: str) -> bool:
        """Whether one that is alike was ruled before it, by the same action."""
        return self.alike_keys.get(code) in self._ruled

    def add_ruled(self, code: str) -> None:
        if key := self.alike_keys.get(code):
            self._ruled.add(key)


def load_selection(
    items: Sequence[BulkItemIn], *, action: str, person: PersonPrincipal
) -> Selection:
    """What is not refused is of one kind that takes the action. Refused as a whole where
    the person may rule on none of them."""
    if len({item.id for item in items}) < len(items):
        _refuse("items", "each review once")
    selection = Selection()
    refused = selection.refused
    kinds: set[str] = set()
    for item in items:
        try:
            review = get_review_for_change(user_id=person.user_id, code=item.id)
        except (Forbidden, NotFound) as refusal:
            refused[item.id] = refusal
            continue
        kinds.add(review.kind)
        selection.alike_keys[item.id] = review.alike_key
        if review.severity == Severity.CRITICAL:
            refused[item.id] = CriticalAlone(
                f"“{review.title}” is critical: rule on it by itself."
            )
    if not kinds:
        raise refused[items[0].id]
    if len(kinds) > 1:
        _refuse("items", f"of one kind; these are {' and '.join(sorted(kinds))}")
    (kind,) = kinds
    if action not in list_bulk_actions(kind):
        allowed = " or ".join(list_bulk_actions(kind))
        _refuse("action", f"several of kind {kind} take {allowed}")
    return selection


def _refuse(place: str, message: str) -> None:
    raise Invalid(
        f"Nothing was ruled: {message}.", errors=[{"loc": [place], "message": message}]
    )


async def submit_rulings(
    *,
    items: Sequence[BulkItemIn],
    action: BulkAction,
    note: str,
    person: PersonPrincipal,
    session: str | None,
) -> list[Result]:
    """For a program; in the order of the items."""
    selection = await run_in_db_thread(
        partial(load_selection, items, action=action, person=person)
    )
    results = []
    for item in items:
        try:
            if item.id in selection.refused:
                raise selection.refused[item.id]
            reply = await submit_ruling(
                review_code=item.id,
                person=person,
                body=RulingIn(
                    action=action,
                    version=item.version,
                    content_digest=item.content_digest,
                    note=note,
                ),
                session=session,
                folded=selection.is_folded(item.id),
            )
        except DomainError as refusal:
            results.append(build_refused(item.id, refusal))
        else:
            selection.add_ruled(item.id)
            results.append(_read_reply(item.id, reply))
    refuse_whole(results)
    return results


def refuse_whole(results: Sequence[Result]) -> None:
    """Who may rule on none of them is told so once."""
    refusals = [result.refusal for result in results]
    if all(type(refusal) in (Forbidden, NotFound) for refusal in refusals):
        raise refusals[0] or NotFound()


def submit_rulings_now(
    *,
    items: Sequence[BulkItemIn],
    claimers: Mapping[str, str],
    action: str,
    note: str,
    person: PersonPrincipal,
    holds: bool = False,
) -> list[Result]:
    """For a screen. `claimers` are the codes of whoever had claimed them there, by
    their ids; empty where nobody had. Each is only held where the page sends it later."""
    selection = load_selection(items, action=action, person=person)
    results = []
    for item in items:
        try:
            if item.id in selection.refused:
                raise selection.refused[item.id]
            said: dict[str, Any] = {
                "review": get_review_for_change(user_id=person.user_id, code=item.id),
                "person": person,
                "action": action,
                "version": item.version,
                "content_digest": item.content_digest,
                "note": note,
                "take_over": claimers.get(item.id, ""),
                "folded": selection.is_folded(item.id),
                "unopened": True,
            }
            if holds:
                submit_held_ruling(**said)
                results.append(Result(code=item.id, status="held"))
            else:
                waits = submit_ruling_now(**said) is not None
                results.append(_read_result(item.id, waits=waits))
            selection.add_ruled(item.id)
        except DomainError as refusal:
            results.append(build_refused(item.id, refusal))
    return results


def _read_reply(code: str, reply: Reply) -> Result:
    """202 where another person has to approve, too."""
    status = "needs-approval" if reply.status == 202 else "ruled"
    ruling = json.loads(reply.body).get("ruling")
    return Result(code=code, status=status, ruling=ruling)


def _read_result(code: str, *, waits: bool) -> Result:
    if waits:
        return Result(code=code, status="needs-approval")
    review = Review.objects.select_related("ruling__by", "call__grant").get(code=code)
    return Result(code=code, status="ruled", ruling=build_ruling_answer(review))
