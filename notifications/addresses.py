"""Where a review is looked at. Whoever has the page registers its address."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

Builder = Callable[[str, UUID], str]
_builders: list[Builder] = []


def register_review_address(build: Builder) -> None:
    """`build` takes the project's slug and the review's code, and returns a whole URL."""
    _builders[:] = [build]


def build_review_address(slug: str, code: UUID) -> str:
    return _builders[0](slug, code) if _builders else ""
