"""What became of each review that was ruled in bulk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from common.errors import DomainError, NotFound, StaleVersion
from reviews.errors import AlreadyRuled, ReviewExpired


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one review; `refusal` is None where it was taken."""

    code: str
    status: str
    refusal: DomainError | None = None
    ruling: dict[str, Any] | None = None


def build_refused(code: str, refusal: DomainError) -> Result:
    status = "refused"
    if isinstance(refusal, AlreadyRuled | ReviewExpired):
        status = "already-ruled"
    elif isinstance(refusal, StaleVersion):
        status = "changed"
    elif isinstance(refusal, NotFound):
        status = "not-found"
    return Result(
        code=code,
        status=status,
        refusal=refusal,
        ruling=refusal.extra.get("ruling"),
    )
