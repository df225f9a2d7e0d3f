"""Webhooks out: events from the ledger, delivered at least once, signed, to addresses
that are checked each time."""

from __future__ import annotations
