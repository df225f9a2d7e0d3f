"""From an event to a receiver's answer: `worker` calls the other modules in turn."""

from __future__ import annotations
