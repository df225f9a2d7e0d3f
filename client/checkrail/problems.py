"""Refusals of the server, `application/problem+json`, as exceptions with names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from checkrail.answers import ReviewRef, Ruling
from checkrail.answers.parsing import parse_answer
from checkrail.errors import CheckrailError, Unreachable
from checkrail.outcomes import Stopped

_STANDARD = frozenset({"type", "title", "status", "detail", "errors"})
_SHOWN = 200


class Problem(CheckrailError):
    """The server understood the request and refused it."""

    slugs: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        *,
        status: int,
        slug: str,
        title: str,
        detail: str,
        errors: tuple[Mapping[str, Any], ...] = (),
        extra: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        lines = [f"{_describe_place(error)}{error.get('message')}" for error in errors]
        # The detail often is the first of them: it is not said twice.
        sentences = _list_sentences(detail)
        listed = "".join(
            f"\n- {line}" for line in lines if _trim(line) not in sentences
        )
        # Not through a class beside us: each has an __init__ of its own.
        Exception.__init__(self, f"{status} {slug or title}: {detail}{listed}")
        self.status = status
        self.slug = slug
        self.title = title
        self.detail = detail
        self.errors = errors
        self.extra = dict(extra or {})
        self.retry_after = retry_after

    @property
    def review(self) -> ReviewRef | None:
        """The review that has to be ruled on first, where the problem names one."""
        found = self.extra.get("review")
        return None if found is None else parse_answer(ReviewRef, found)


class Malformed(Problem):
    slugs = ("malformed", "duplicate-key", "bad-encoding")


class Unauthenticated(Problem):
    """No key, or not a good one: see CHECKRAIL_KEY."""

    slugs = ("unauthenticated",)


class Forbidden(Problem):
    slugs = ("forbidden",)


class FourEyes(Problem):
    slugs = ("four-eyes",)


class NotFound(Problem):
    """Not there, or not yours."""

    slugs = ("not-found",)


class RunClosed(Problem, Stopped):
    """The run is stopped or ended."""

    slugs = ("run-closed",)

    @property
    def reason(self) -> str:  # type: ignore[override]
        return self.detail

    @property
    def run_status(self) -> str | None:
        return self.extra.get("run_status")


class RunPaused(Problem):
    """The run waits for a person."""

    slugs = ("run-paused",)


class Halted(Problem):
    """A person has halted this, and `timeout` ended before it was released."""

    slugs = ("halted",)

    @property
    def by(self) -> str:
        return str(self._halt.get("by", ""))

    @property
    def reason(self) -> str:
        return str(self._halt.get("reason", ""))

    @property
    def halt_id(self) -> str:
        return str(self._halt.get("id", ""))

    @property
    def _halt(self) -> Mapping[str, Any]:
        return self.extra.get("halt") or {}


class StepOutOfOrder(Problem):
    """Somebody else reports steps of this run, too; `run.refresh()` counts anew."""

    slugs = ("step-out-of-order",)

    @property
    def expected(self) -> int | None:
        return self.extra.get("expected")


class StepConflict(Problem):
    slugs = ("step-conflict",)


class ReviewOpen(Problem):
    """A person has to rule first."""

    slugs = ("review-open",)


class AlreadyRuled(Problem):
    """Somebody was faster."""

    slugs = ("already-ruled",)

    @property
    def ruling(self) -> Ruling | None:
        found = self.extra.get("ruling")
        return None if found is None else parse_answer(Ruling, found)


class GrantSpent(Problem):
    slugs = ("grant-spent",)


class GrantMismatch(Problem):
    slugs = ("grant-mismatch",)


class GrantExpired(Problem):
    """The call was not claimed in time: ask again."""

    slugs = ("grant-expired",)


class ReviewExpired(Problem):
    slugs = ("review-expired",)


class StaleVersion(Problem):
    """The review changed since it was read: read it again, then rule."""

    slugs = ("stale-version",)


class PreconditionRequired(Problem):
    slugs = ("precondition-required",)


class TooLarge(Problem):
    slugs = ("too-large",)


class UnsupportedMedia(Problem):
    slugs = ("unsupported-media",)


class Invalid(Problem):
    """A field is not acceptable; `errors` lists each."""

    slugs = ("invalid",)


class IdempotencyKeyReuse(Problem):
    slugs = ("idempotency-key-reuse",)


class IdempotencyInFlight(Problem):
    slugs = ("idempotency-in-flight",)


class RateLimited(Problem, Unreachable):
    slugs = ("rate-limited",)


class LimitReached(Problem):
    """No run begins or is reopened: a limit that runs share is used up."""

    slugs = ("limit-reached",)

    @property
    def begins_anew(self) -> str | None:
        """The moment, in UTC; None where only a manager can raise it."""
        limit: Mapping[str, Any] = self.extra.get("limit") or {}
        return limit.get("begins_anew")


class Unavailable(Problem, Unreachable):
    """The server is there, and cannot answer just now, or the request came too slowly."""

    slugs = ("unavailable", "request-timeout")


def _describe_place(error: Mapping[str, Any]) -> str:
    loc = error.get("loc")
    return f"{'.'.join(map(str, loc))}: " if isinstance(loc, list) and loc else ""


def _list_sentences(detail: str) -> set[str]:
    """The whole and each sentence, without what the server puts around the first error."""
    whole = re.sub(r" \(and \d+ more\)$", "", detail).removeprefix("body: ")
    return {_trim(each) for each in (whole, *re.split(r"(?<=[.!?])\s+", whole))}


def _trim(sentence: str) -> str:
    return sentence.strip().rstrip(".")
