"""`python -m checkrail.hooks`."""

from __future__ import annotations

import sys

from checkrail.hooks import run

sys.exit(run(sys.argv[1:]))
