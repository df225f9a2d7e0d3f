"""python -m checkrail.cli"""

from __future__ import annotations

import sys

from checkrail.cli.main import main

sys.exit(main())
