"""Every file and folder of the code that a page or a decision record names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = {path.parent.name for path in ROOT.glob("*/__init__.py")}
_NAMED = re.compile(r"`((\w+)/[\w./]+?)`")


def list_missing(text: str) -> list[str]:
    return [
        path
        for path, app in _NAMED.findall(text)
        if app in APPS and not (ROOT / path).exists()
    ]


def test_a_path_that_is_not_there_is_noticed() -> None:
    assert list_missing("`ledger/nowhere.py`, `ledger/models.py`, `a/b`") == [
        "ledger/nowhere.py"
    ]


def test_every_path_is_there() -> None:
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    missing = {
        str(page.relative_to(ROOT)): found
        for page in pages
        if (found := list_missing(page.read_text()))
    }
    assert missing == {}
