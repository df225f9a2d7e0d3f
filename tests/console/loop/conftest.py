"""The loop's page is tested with the same signals as the loop."""

from __future__ import annotations

from tests.loop.conftest import robo_signal

__all__ = ["robo_signal"]
