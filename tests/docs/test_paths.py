"""Every file and folder that a page or a decision record names is there, and so is what
it says to be in one."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = {path.parent.name for path in ROOT.glob("*/__init__.py")}
PAGES = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
_NAMED = re.compile(r"`((\w+)/[\w./]+?)`")
# `ENGINE_VERSION` in `guidance/core/steps/judge_step.py`
_PLACED = re.compile(r"`(\w+)`\s+(?:in|of)\s+`([\w/]+\.py)`")


def list_missing(text: str) -> list[str]:
    return [
        path
        for path, app in _NAMED.findall(text)
        if app in APPS and not (ROOT / path).exists()
    ]


def test_a_path_that_is_not_there_is_noticed() -> None:
    assert list_missing("`ledger/nowhere.py`, `ledger/chain.py`, `a/b`") == [
        "ledger/nowhere.py"
    ]


def test_every_path_is_there() -> None:
    missing = {
        str(page.relative_to(ROOT)): found
        for page in PAGES
        if (found := list_missing(page.read_text()))
    }
    assert missing == {}


def test_every_name_is_in_the_file_that_is_said_to_have_it() -> None:
    placed = [
        (page.name, name, path)
        for page in PAGES
        for name, path in _PLACED.findall(page.read_text())
    ]
    assert len(placed) > 20
    assert [
        each
        for each in placed
        if not re.search(rf"\b{each[1]}\b", (ROOT / each[2]).read_text())
    ] == []
