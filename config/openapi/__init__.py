"""The OpenAPI document: what is built from the operations, and the page that shows it."""

from __future__ import annotations
