"""What entries of the system loop do to its run: nothing. They say what it did."""

from __future__ import annotations

from ledger.entry_types import register_entry_type


def register_entry_types() -> None:
    for name in ("signalled", "decided", "emitted", "resolved", "switched"):
        register_entry_type(f"loop.{name}")
    for name in ("reported", "alerted", "heard", "noted", "recommended"):
        register_entry_type(f"loop.{name}")
