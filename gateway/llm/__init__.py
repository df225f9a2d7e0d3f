"""Questions to a language model, and the judge that asks them. Off unless set up."""

from __future__ import annotations
