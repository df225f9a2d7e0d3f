"""Idempotency keys: the same request again gets the same answer, byte for byte.

The record is read and written under the project's lock, in the transaction that does
the work. A refused request leaves no record: its key may be used again. An answer that can
be written again from an entry is kept as the number of that entry (`#15`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from common.errors import DomainError, Malformed
from common.responses import Reply
from guidance.redactor import get_fingerprint_key
from ledger.models import IdempotencyRecord

KEEP = timedelta(hours=72)
KEPT_BYTES = 12
# Answers are JSON objects: none begins so.
POINTER = "#"
Rebuild = Callable[[int], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """A caller's own key for one request, and what that request was. `long_key` and
    `long_fingerprint` are the same as they were stored until both were shortened."""

    agent_id: int
    key: str
    fingerprint: str
    long_key: str
    long_fingerprint: str


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
    return _bind(agent_id, _compute_hmac(key.encode()), _compute_hmac(request))


def build_own_key(*parts: str, agent_id: int) -> Idempotency:
    """A key that we make ourselves; the NUL in it keeps it apart from any caller's."""
    key = _compute_hmac("\0".join(("checkrail", *parts)).encode())
    return _bind(agent_id, key, key)


def _compute_hmac(data: bytes) -> bytes:
    """Keyed: a plain hash of something with a short secret in it could be tried out."""
    return hmac.new(get_fingerprint_key(), data, hashlib.sha256).digest()


def _bind(agent_id: int, key: bytes, fingerprint: bytes) -> Idempotency:
    """Of each so much is kept that no two are the same by chance: nobody without our key
    can look for two that are."""
    return Idempotency(
        agent_id=agent_id,
        key=urlsafe_b64encode(key[:KEPT_BYTES]).decode(),
        fingerprint=urlsafe_b64encode(fingerprint[:KEPT_BYTES]).decode(),
        long_key=key.hex(),
        long_fingerprint=fingerprint.hex(),
    )


def get_earlier_answer(idempotency: Idempotency, rebuild: Rebuild | None = None) -> Any:
    """The earlier answer to this key, if there is one. `rebuild` writes it again from the
    entry with this number, which only some requests can."""
    record = IdempotencyRecord.objects.filter(
        agent_id=idempotency.agent_id,
        key__in=(idempotency.key, idempotency.long_key),
    ).first()
    if record is None:
        return None
    if record.fingerprint not in (
        idempotency.fingerprint,
        idempotency.long_fingerprint,
    ):
        raise KeyReused(
            "The Idempotency-Key was sent before with another method, path or body."
        )
    body = record.body
    if body.startswith(POINTER):
        assert rebuild is not None, "the same request was answered from an entry"
        body = rebuild(int(body.removeprefix(POINTER)))
    return Reply(status=record.status, body=body, replayed=True)


def store_answer(idempotency: Idempotency, *, answer: Any, at: datetime) -> None:
    """Commands that carry a key answer with a Reply: what is sent is what is kept."""
    seq = answer.written_from
    IdempotencyRecord.objects.create(
        agent_id=idempotency.agent_id,
        key=idempotency.key,
        fingerprint=idempotency.fingerprint,
        status=answer.status,
        body=answer.body if seq is None else f"{POINTER}{seq}",
        created_at=at,
    )


def list_recorded_answers(keys: Iterable[Idempotency]) -> dict[str, dict[str, Any]]:
    """What is recorded under these keys of one agent, by key."""
    found: dict[str, dict[str, Any]] = {}
    wanted = list(keys)
    for at in range(0, len(wanted), 400):  # SQLite takes a thousand parameters
        some = wanted[at : at + 400]
        names = {each.key: each.key for each in some}
        names |= {each.long_key: each.key for each in some}
        records = IdempotencyRecord.objects.filter(
            agent_id=some[0].agent_id, key__in=[*names]
        )
        found |= {
            names[key]: json.loads(body)
            for key, body in records.values_list("key", "body")
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
