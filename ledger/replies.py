"""What an agent door answers: made once, sent as it is, whatever server sends it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    body: str
    replayed: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {"Idempotency-Replayed": "true"} if self.replayed else {}


def reply(body: dict[str, Any], *, status: int = 200, replayed: bool = False) -> Reply:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Reply(status=status, body=text, replayed=replayed)
