"""The receiver and the clean table of the tests of webhooks."""

from __future__ import annotations

from tests.webhooks.conftest import nothing_left, receiver

__all__ = ["nothing_left", "receiver"]
