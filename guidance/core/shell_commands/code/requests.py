"""Requests that a program sends to delete something on another machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.findings import Span

_ELSEWHERE = r"[\"'`]https?://(?!localhost\b|127\.|0\.0\.0\.0|\[::1\]|testserver\b)[^\"'`\s]{1,300}"
_PATTERNS = (
    # requests.delete("https://…"), axios.delete(`https://…`)
    re.compile(rf"\.delete\(\s*f?{_ELSEWHERE}"),
    # fetch("https://…", {method: "DELETE"}), Request("https://…", method="DELETE")
    re.compile(
        rf"{_ELSEWHERE}[\"'`][^;]{{0,200}}?\bmethod[\"']?\s*[:=]\s*[\"'`]DELETE\b"
    ),
    # request("DELETE", "https://…")
    re.compile(rf"[\"'`:]DELETE[\"'`]?\s*,\s*f?{_ELSEWHERE}"),
)


def list_deletions(code: str) -> Iterator[Span]:
    """The places of such requests."""
    if "://" not in code or ("DELETE" not in code and ".delete(" not in code):
        return
    for pattern in _PATTERNS:
        for match in pattern.finditer(code):
            yield match.span()
