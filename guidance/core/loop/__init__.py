"""The system loop, pure: what it may do, by which rules, and what holds it back."""

from __future__ import annotations
