"""HTTP responses, and the documents and problems that their bodies hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from checkrail.errors import ProtocolError
from checkrail.problems import (
    Forbidden,
    NotFound,
    Problem,
    RateLimited,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from checkrail.transport.connection import Connection

_STANDARD = frozenset({"type", "title", "status", "detail", "errors"})
_SHOWN = 200
_CLASSES = {slug: kind for kind in Problem.__subclasses__() for slug in kind.slugs}
# What a proxy says in its own words, without a slug.
_STATUSES: dict[int, type[Problem]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    408: Unavailable,
    413: TooLarge,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def retry_after(self) -> float | None:
        """Seconds; the header may also name a moment."""
        value = self.headers.get("retry-after", "").strip()
        if value.isascii() and value.isdigit():
            return float(value)
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


def parse_document(connection: Connection, answer: Response) -> object:
    if answer.status >= 400:
        raise parse_problem(answer)
    if not 200 <= answer.status < 300:
        raise ProtocolError(
            f"{connection.base} answered {answer.status}"
            f" to {answer.headers.get('location', 'nowhere')}: is the address right?"
        )
    try:
        document: object = json.loads(answer.body)
    except ValueError:
        raise ProtocolError(
            f"{connection.base} answered with something that is no JSON: is it Checkrail?"
        ) from None
    return document


def parse_problem(answer: Response) -> Problem:
    """The refusal in an answer, whoever wrote it: the server, or a proxy before it."""
    body = _parse_object(answer)
    kind = str(body.get("type", ""))
    slug = kind.removeprefix("/problems/") if kind.startswith("/problems/") else ""
    found = _CLASSES.get(slug) or _STATUSES.get(answer.status, Problem)
    errors = body.get("errors")
    return found(
        status=answer.status,
        slug=slug,
        title=str(body.get("title") or "The request was refused"),
        detail=str(
            body.get("detail") or answer.text[:_SHOWN] or "No reason was given."
        ),
        errors=tuple(e for e in errors if isinstance(e, dict))
        if isinstance(errors, list)
        else (),
        extra={name: part for name, part in body.items() if name not in _STANDARD},
        retry_after=answer.retry_after,
    )


def _parse_object(answer: Response) -> dict[str, Any]:
    try:
        body = json.loads(answer.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
