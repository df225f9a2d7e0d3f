"""problem+json: the one shape of every error on /api/."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from accounts.errors import DomainError, Invalid
from guidance.redactor import clean

MEDIA_TYPE = "application/problem+json"


def problem_body(error: DomainError) -> bytes:
    document: dict[str, Any] = {
        "type": f"/problems/{error.slug}",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
    }
    if error.errors:
        # The place of a fault is named by keys, and keys come from outside.
        document = clean({**document, "errors": list(error.errors)})
    document.update(error.extra)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def invalid_body(error: ValidationError) -> Invalid:
    return invalid_fields(error.errors(include_url=False, include_input=False))


def invalid_fields(
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
