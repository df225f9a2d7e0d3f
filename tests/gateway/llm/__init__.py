from __future__ import annotations

import pytest

pytestmark = pytest.mark.once("models and prompts; nothing is stored")
