from __future__ import annotations

import pytest

pytestmark = [
    pytest.mark.once("frameworks talk HTTP and know no database"),
    pytest.mark.slow("the frameworks take seconds to import"),
]
