"""What a severe review asks of whoever rules on it: a reason, and a fresh sign-in."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from accounts.auth import PersonPrincipal
from common.errors import Invalid
from guidance.core.policy import ReviewRules
from guidance.core.reviews.care import needs_reason
from guidance.core.reviews.four_eyes import APPROVING
from guidance.selectors import get_policy
from reviews.errors import SignInAgain
from reviews.models import Review


def refuse_careless(
    review: Review, *, person: PersonPrincipal, action: str, note: str
) -> None:
    """People at a screen always say why; programs where the policy asks for it."""
    rules = get_policy(review.run.policy_id).policy.reviews
    on_screen = person.token_id is None
    if on_screen or rules.require_reasons:
        _refuse_unexplained(review, action=action, note=note)
    if on_screen and action in APPROVING:
        _refuse_old_sign_in(review, rules, person=person)


def _refuse_unexplained(review: Review, *, action: str, note: str) -> None:
    # Skipping a gate takes a reason whatever its severity, and says so itself.
    if action != "skip" and needs_reason(action, review.severity) and not note.strip():
        message = f"this is {review.severity}: say why"
        raise Invalid(
            f"note: {message}.", errors=[{"loc": ["note"], "message": message}]
        )


def _refuse_old_sign_in(
    review: Review, rules: ReviewRules, *, person: PersonPrincipal
) -> None:
    fresh = rules.fresh_sign_in
    if review.severity not in fresh.severity:
        return
    limit = timedelta(seconds=fresh.within_s)
    signed_in_at = person.signed_in_at
    if signed_in_at is None or timezone.now() - signed_in_at > limit:
        raise SignInAgain(
            f"This is {review.severity}: give your password once more, then approve it."
        )
