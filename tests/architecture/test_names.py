"""Functions are named by what they do: a lone participle says neither verb nor subject."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("console", "gateway", "ledger", "reviews")
IRREGULAR = frozenset(
    [
        "begun",
        "bound",
        "broken",
        "built",
        "chosen",
        "done",
        "drawn",
        "found",
        "given",
        "gone",
        "held",
        "hidden",
        "kept",
        "known",
        "laid",
        "left",
        "lost",
        "made",
        "meant",
        "met",
        "paid",
        "said",
        "seen",
        "sent",
        "shown",
        "spent",
        "stood",
        "taken",
        "thought",
        "told",
        "won",
        "written",
    ]
)
# Words that end like a participle and are verbs or nouns.
VERBS = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "speed"})
# Where the participle is the plain word for it; each with its reason.
EXCEPTIONS: dict[str, str] = {}


def is_lone_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word:
        return False
    return word in IRREGULAR or (word.endswith("ed") and word not in VERBS)


def list_participles(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        decorators = {ast.unparse(each) for each in node.decorator_list}
        # A property is read like a field, for which an adjective is right.
        if "property" not in decorators and is_lone_participle(node.name):
            yield node.name


def test_a_lone_participle_is_noticed() -> None:
    source = "def _judged(): ...\nasync def told(): ...\ndef judge_call(): ..."
    assert list(list_participles(source)) == ["_judged", "told"]


@pytest.mark.parametrize("app", APPS)
def test_no_function_is_named_by_a_lone_participle(app: str) -> None:
    found = {
        f"{path.relative_to(ROOT)}:{name}"
        for path in (ROOT / app).rglob("*.py")
        for name in list_participles(path.read_text())
    }
    assert found - EXCEPTIONS.keys() == set()


def test_every_exception_is_still_needed() -> None:
    named = {
        f"{path.relative_to(ROOT)}:{name}"
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        for name in list_participles(path.read_text())
    }
    assert EXCEPTIONS.keys() - named == set()
