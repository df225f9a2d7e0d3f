"""What several tests of requests that need no task look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accounts import auth
from config.fastpath.at_once import AtOnce


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each request that was asked about: whether the writer got it."""
    seen: list[bool] = []
    take: Callable[..., bool] = AtOnce.take

    def watch(*given: Any) -> bool:
        seen.append(take(*given))
        return seen[-1]

    monkeypatch.setattr(AtOnce, "take", watch)
    # However slow the machine is: only the steps of a key that is known are asked about.
    monkeypatch.setattr(auth, "CACHE_SECONDS", 600.0)
    return seen
