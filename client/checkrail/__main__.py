"""python -m checkrail"""

from __future__ import annotations

import sys

from checkrail.cli.main import main

sys.exit(main())
