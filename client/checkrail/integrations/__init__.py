"""Agent frameworks under Checkrail; each module needs the extra of its name."""

from __future__ import annotations
