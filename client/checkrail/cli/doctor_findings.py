"""A finding of the doctor, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    state: Literal["ok", "note", "wrong"]
    what: str
    mend: str = ""
