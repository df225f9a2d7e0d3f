"""Rulings on several reviews that a page holds: sent together, or taken back together.

Each is held by itself (`reviews.rulings.held`), so one that was taken back or ruled by
somebody else meanwhile keeps none of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accounts.auth import PersonPrincipal
from common.errors import DomainError
from reviews.bulk.results import Result, build_refused
from reviews.errors import RulingNotHeld
from reviews.models import Review
from reviews.selectors import get_review_for_change
from reviews.services import send_held_ruling, take_back_ruling


def send_held_rulings(codes: Sequence[str], *, person: PersonPrincipal) -> list[Result]:
    """Those that are held still; what was refused is dropped, and named here."""

    def send(review: Review) -> str:
        waits = send_held_ruling(review=review, person=person)
        return "ruled" if waits is None else "needs-approval"

    return _apply_to_each(codes, send, person=person)


def take_back_rulings(codes: Sequence[str], *, person: PersonPrincipal) -> list[Result]:
    def take_back(review: Review) -> str:
        take_back_ruling(review=review, person=person)
        return "taken-back"

    return _apply_to_each(codes, take_back, person=person)


def _apply_to_each(
    codes: Sequence[str], act: Callable[[Review], str], *, person: PersonPrincipal
) -> list[Result]:
    results = []
    for code in codes:
        try:
            review = get_review_for_change(user_id=person.user_id, code=code)
            results.append(Result(code=code, status=act(review)))
        except RulingNotHeld as refusal:
            results.append(Result(code=code, status="not-held", refusal=refusal))
        except DomainError as refusal:
            results.append(build_refused(code, refusal))
    return results
