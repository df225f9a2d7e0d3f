"""What is wrong with a body as a whole; single spans are refused in the answer."""

from __future__ import annotations

from common.errors import Malformed


class Unreadable(Malformed):
    title = "The body cannot be read"
