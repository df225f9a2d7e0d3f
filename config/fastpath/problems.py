"""problem+json: the one shape of every error on /api/."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any, cast

from django.db import DatabaseError, InterfaceError
from pydantic import ValidationError

from common.errors import DomainError, InternalError, Invalid, Unavailable
from guidance.core.secrets import redact
from guidance.redactor import get_fingerprint_key

MEDIA_TYPE = "application/problem+json"
# What we call the parts of a problem, whatever a secret is spelled like.
_OWN_KEYS = frozenset(
    {("detail",), ("errors",), ("errors", "loc"), ("errors", "message")}
)

logger = logging.getLogger(__name__)


def build_problem(error: Exception, *, method: str, path: str) -> DomainError:
    """Name an error for the caller; what is our fault is logged, and not told."""
    if isinstance(error, DomainError):
        return error
    logger.error("%s %s failed", method, path, exc_info=error)
    if isinstance(error, DatabaseError | InterfaceError):
        return Unavailable("The database does not answer.")
    return InternalError("The error is in the server's log.")


def render_problem(error: DomainError) -> bytes:
    document: dict[str, Any] = {
        "type": f"/problems/{error.slug}",
        "title": error.title,
        "status": error.status,
        **_clean(error),
        **error.extra,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _clean(error: DomainError) -> dict[str, Any]:
    if not error.errors:
        return {"detail": error.detail}
    # The place of a fault is named by keys, and keys come from outside.
    told = {"detail": error.detail, "errors": list(error.errors)}
    key = get_fingerprint_key()
    return cast(
        "dict[str, Any]", redact(told, fingerprint_key=key, own_keys=_OWN_KEYS).value
    )


def build_invalid_body(error: ValidationError) -> Invalid:
    return build_invalid_fields(error.errors(include_url=False, include_input=False))


def build_invalid_fields(
    items: Iterable[Mapping[str, Any]], *, strip: tuple[str, ...] = ()
) -> Invalid:
    """Name every field that is wrong, without repeating what was sent."""
    errors = []
    for item in items:
        loc = list(item["loc"])
        if tuple(loc[: len(strip)]) == strip:
            loc = loc[len(strip) :]
        errors.append({"loc": loc, "message": item["msg"]})
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"]) or "body"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return Invalid(f"{where}: {first['message']}{more}", errors=errors)
