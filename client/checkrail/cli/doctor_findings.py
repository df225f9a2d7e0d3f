"""What the doctor found, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Found:
    state: Literal["ok", "note", "wrong"]
    what: str
    mend: str = ""
