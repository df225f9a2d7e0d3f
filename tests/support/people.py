"""What people do over HTTP, as tests need it again and again."""

from __future__ import annotations

from typing import Any

import httpx

from reviews.selectors import get_review_for_change
from reviews.teamwork.services import submit_claim
from tests.support.builders import Person


def get_seen(client: httpx.Client, review: str) -> dict[str, Any]:
    """What a person must have read before they may rule."""
    body = client.get(f"/reviews/{review}").json()
    return {"version": body["version"], "content_digest": body["content_digest"]}


def claim(review: str, person: Person) -> None:
    """Claim without a request: for tests of what is shown of it."""
    found = get_review_for_change(user_id=person.user.pk, code=review)
    submit_claim(review=found, person=person.principal)


def rule(client: httpx.Client, review: str, action: str, **more: Any) -> dict[str, Any]:
    """Read the review, then rule on it."""
    body = {"action": action, **get_seen(client, review), **more}
    answer = client.post(f"/reviews/{review}/ruling", json=body)
    assert answer.status_code == 200, answer.text
    ruled: dict[str, Any] = answer.json()
    return ruled
