from __future__ import annotations

import pytest

pytestmark = pytest.mark.once(
    "other people's tools read the document, whatever database is behind it"
)
