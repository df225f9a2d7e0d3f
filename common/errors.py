"""The errors that a client may see, each with its slug, status and title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class DomainError(Exception):
    """An error with a stable slug: problem+json in the API, a message on a page."""

    slug: ClassVar[str] = "invalid"
    status: ClassVar[int] = 422
    title: ClassVar[str] = "The request cannot be taken"

    def __init__(
        self,
        detail: str,
        *,
        errors: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.extra = extra


class Malformed(DomainError):
    slug, status, title = "malformed", 400, "The body is not valid JSON"


class DuplicateKey(DomainError):
    slug, status, title = "duplicate-key", 400, "Duplicate key in an object"


class BadEncoding(DomainError):
    slug, status, title = "bad-encoding", 400, "The text is not clean UTF-8"


class Unauthenticated(DomainError):
    slug, status, title = "unauthenticated", 401, "Not authenticated"

    def __init__(
        self, detail: str = "Send a valid key: Authorization: Bearer crk_… or crt_…"
    ) -> None:
        super().__init__(detail, headers={"WWW-Authenticate": "Bearer"})


class Forbidden(DomainError):
    slug, status, title = "forbidden", 403, "Permission denied"


class NotFound(DomainError):
    slug, status, title = "not-found", 404, "Not found"

    def __init__(self, detail: str = "Nothing is found at this address.") -> None:
        super().__init__(detail)


class RequestTimeout(DomainError):
    slug, status, title = "request-timeout", 408, "The request did not arrive in time"


class TooLarge(DomainError):
    slug, status, title = "too-large", 413, "The body is too large"


class UnsupportedMedia(DomainError):
    slug, status, title = "unsupported-media", 415, "Send plain JSON"


class Invalid(DomainError):
    slug, status, title = "invalid", 422, "A field is not acceptable"


class PreconditionRequired(DomainError):
    slug, status, title = "precondition-required", 428, "Precondition required"


class StaleVersion(DomainError):
    slug, status, title = "stale-version", 412, "What you saw has changed"


class Unchanged(DomainError):
    slug, status, title = "unchanged", 409, "Nothing would change"


class Unavailable(DomainError):
    slug, status, title = "unavailable", 503, "Not available just now"

    def __init__(self, detail: str, *, retry_after: int = 2) -> None:
        super().__init__(detail, headers={"Retry-After": str(retry_after)})


class InternalError(DomainError):
    slug, status, title = "internal", 500, "Internal error"


class MethodNotAllowed(DomainError):
    slug, status, title = "method-not-allowed", 405, "Method not allowed"


class RateLimited(DomainError):
    slug, status, title = "rate-limited", 429, "Too many requests"

    def __init__(self, detail: str, *, retry_after: int) -> None:
        super().__init__(detail, headers={"Retry-After": str(retry_after)})
