"""Idempotency keys: the same request again gets the same answer, byte for byte.

The record is read and written under the project's lock, in the transaction that does
the work. A refused request leaves no record: its key may be used again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from common.errors import DomainError, Malformed
from common.responses import Reply
from guidance.redactor import get_fingerprint_key
from ledger.models import IdempotencyRecord

KEEP = timedelta(hours=72)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's own key for one request, and what that request was."""

    agent_id: int
    key: str
    fingerprint: str


class KeyReused(DomainError):
    slug, status = "idempotency-key-reuse", 422
    title = "This key was used for another request"


def build_idempotency(
    *, key: str | None, agent_id: int, method: str, path: str, body: bytes
) -> Idempotency | None:
    """The caller's key bound to this very request; None when none was sent."""
    if key is None:
        return None
    if not 1 <= len(key) <= 255 or not all("!" <= char <= "~" for char in key):
        raise Malformed("Idempotency-Key must be 1 to 255 visible ASCII characters.")
    request = b"\0".join((method.encode(), path.encode(), body))
    return Idempotency(
        agent_id=agent_id,
        key=_build_fingerprint(key.encode()),
        fingerprint=_build_fingerprint(request),
    )


def build_own_key(*parts: str, agent_id: int) -> Idempotency:
    """A key that we make ourselves; the NUL in it keeps it apart from any caller's."""
    key = _build_fingerprint("\0".join(("checkrail", *parts)).encode())
    return Idempotency(agent_id=agent_id, key=key, fingerprint=key)


def _build_fingerprint(data: bytes) -> str:
    """Keyed: a plain hash of something with a short secret in it could be tried out."""
    return hmac.new(get_fingerprint_key(), data, hashlib.sha256).hexdigest()


def get_earlier_answer(idempotency: Idempotency) -> Any:
    """The earlier answer to this key, if there is one."""
    record = IdempotencyRecord.objects.filter(
        agent_id=idempotency.agent_id, key=idempotency.key
    ).first()
    if record is None:
        return None
    if record.fingerprint != idempotency.fingerprint:
        raise KeyReused(
            "The Idempotency-Key was sent before with another method, path or body."
        )
    return Reply(status=record.status, body=record.body, replayed=True)


def store_answer(idempotency: Idempotency, *, answer: Any, at: datetime) -> None:
    """Commands that carry a key answer with a Reply: what is sent is what is kept."""
    IdempotencyRecord.objects.create(
        agent_id=idempotency.agent_id,
        key=idempotency.key,
        fingerprint=idempotency.fingerprint,
        status=answer.status,
        body=answer.body,
        created_at=at,
    )


def list_recorded_answers(keys: Iterable[Idempotency]) -> dict[str, dict[str, Any]]:
    """What is recorded under these keys of one agent, by key."""
    found: dict[str, dict[str, Any]] = {}
    wanted = list(keys)
    for at in range(0, len(wanted), 500):  # SQLite takes a thousand parameters
        some = wanted[at : at + 500]
        records = IdempotencyRecord.objects.filter(
            agent_id=some[0].agent_id, key__in=[each.key for each in some]
        )
        found |= {
            key: json.loads(body) for key, body in records.values_list("key", "body")
        }
    return found


def build_record(
    idempotency: Idempotency, *, body: dict[str, Any], at: datetime
) -> IdempotencyRecord:
    """A record to store beside a change; the caller has looked that there is none."""
    return IdempotencyRecord(
        agent_id=idempotency.agent_id,
        key=idempotency.key,
        fingerprint=idempotency.fingerprint,
        status=201,
        body=json.dumps(body),
        created_at=at,
    )


def delete_old_keys() -> int:
    """Keys are kept for 72 hours; returns how many were dropped."""
    count, _ = IdempotencyRecord.objects.filter(
        created_at__lt=timezone.now() - KEEP
    ).delete()
    return count
