"""Issuing a grant: the one-time permission for one exact call."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from common.ids import make_code
from guidance.selectors import LoadedPolicy
from ledger.chain import format_timestamp
from ledger.plan import NewRow, Table
from reviews.models import Grant

_GRANTS = Table(
    Grant,
    "code",
    "call_id",
    "run_id",
    "permission_id",
    "digest",
    "policy_hash",
    "issued_at",
    "expires_at",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGrant:
    """A grant before it is stored: into the entry first, then into its row."""

    digest: str
    policy_hash: str
    issued_at: datetime
    expires_at: datetime
    code: str = field(default_factory=make_code)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.code,
            "digest": self.digest,
            "expires_at": format_timestamp(self.expires_at),
        }

    def build_row(
        self, *, call_code: str, run_id: int, permission_id: int | None = None
    ) -> NewRow:
        return NewRow(
            _GRANTS,
            (
                self.code,
                call_code,
                run_id,
                permission_id,
                self.digest,
                self.policy_hash,
                self.issued_at,
                self.expires_at,
            ),
        )


def build_grant(digest: str, *, policy: LoadedPolicy, at: datetime) -> NewGrant:
    lasts = timedelta(seconds=policy.policy.tools.grant_expires_s)
    return NewGrant(
        digest=digest, policy_hash=policy.hash, issued_at=at, expires_at=at + lasts
    )
