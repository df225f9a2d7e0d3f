from __future__ import annotations

import pytest

pytestmark = pytest.mark.once(
    "drives real coding agents; the calls behind them are repeated in tests/gateway/calls"
)
