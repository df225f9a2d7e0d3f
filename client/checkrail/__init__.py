"""The agents' side of Checkrail."""

from __future__ import annotations

from checkrail.verify import Broken, verify_lines

__all__ = ["Broken", "verify_lines"]
