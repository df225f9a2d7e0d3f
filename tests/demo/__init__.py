from __future__ import annotations

import pytest

pytestmark = pytest.mark.once("the demo fleet talks HTTP and knows no database")
