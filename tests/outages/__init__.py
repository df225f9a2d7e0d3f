"""What agents, load balancers and pages notice when a part is away: next to nothing."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.once("starts services of its own, whatever the suite runs on")
