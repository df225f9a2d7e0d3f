"""The loop's pages: values are prepared here, templates only place them."""

from __future__ import annotations
