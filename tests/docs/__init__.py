from __future__ import annotations

import pytest

pytestmark = pytest.mark.once("reads the docs, whatever database is behind the server")
