"""`checkrail` in a terminal: for people who rule there, and for setting agents up."""

from __future__ import annotations
