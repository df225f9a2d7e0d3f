"""The loop as the console shows it. Values are made ready here; templates place them."""

from __future__ import annotations
