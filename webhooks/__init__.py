"""Webhooks: events from the ledger, signed and delivered at least once to receivers whose
address is checked before every attempt."""

from __future__ import annotations
