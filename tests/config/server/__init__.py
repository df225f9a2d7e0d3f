from __future__ import annotations

import pytest

pytestmark = pytest.mark.once("connections and their limits, before any database")
