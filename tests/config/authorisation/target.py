"""What an operation is tried with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ABSENT = "01900000-0000-7000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Target:
    """What a door is knocked at with: a run, what belongs to it, and a body."""

    run: str
    review: str
    body: Any = None
    call: str = ABSENT
    permission: str = ABSENT
    exemption: str = ABSENT
    halt: str = ABSENT
    allowance: str = ABSENT
    check: str = ABSENT
    warning: str = ABSENT
    webhook: str = ABSENT
    delivery: str = ABSENT
    decision_id: str = ABSENT
    note: str = ABSENT
    name: str = "absent"
    number: int = 1
    backtest: str = ABSENT
    shadow: str = ABSENT
    recommendation: str = ABSENT
    incident: str = ABSENT
    person: str = ABSENT
    invitation: str = ABSENT
    token: str = ABSENT
    agent: str = ABSENT
    key: str = ABSENT
