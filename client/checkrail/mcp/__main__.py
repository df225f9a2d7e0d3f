"""`python -m checkrail.mcp`"""

from __future__ import annotations

import sys

from checkrail.mcp import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
