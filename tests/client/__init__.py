from __future__ import annotations

import pytest

pytestmark = pytest.mark.once("the client talks HTTP and knows no database")
