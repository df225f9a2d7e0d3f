"""Knowledge runs one way, like imports: down.

No app names the table of another, an entry type of an app above it, or an address of the
console: what these are called is the business of the app that has them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps

from ledger import entry_types
from tests.runner.database import ROOT

# Each may know of those after it.
APPS = (
    *("config", "demo", "console", "loop", "notifications", "webhooks", "gateway"),
    *("reviews", "ledger", "safetext", "guidance", "accounts", "common"),
)
# Each registers the entries that it writes in its `transitions.py`.
WRITERS = ("loop", "gateway", "reviews", "ledger")
WORD = re.compile(r"[a-z_.:]+", re.IGNORECASE)


@cache
def list_words(app: str) -> list[tuple[str, str]]:
    """Each word in the texts of an app's code and templates, and where it stands.

    What a migration says was true when it was written; docstrings are for people.
    """
    return [
        word
        for path in sorted(Path(ROOT, app).rglob("*.py"))
        if "migrations" not in path.parts
        for word in list_words_of_code(path.read_text(), path.name)
    ]


def list_words_of_code(code: str, name: str) -> Iterator[tuple[str, str]]:
    tree = ast.parse(code)
    parts = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, parts) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if id(node) not in docstrings:
            for word in WORD.findall(node.value):
                yield word, f"{name}:{node.lineno}"


@pytest.fixture
def owners(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Which app registers each type of entry."""
    known = set(entry_types.list_entry_types())
    found = {}
    for app in WRITERS:
        with monkeypatch.context() as patch:
            patch.setattr(entry_types, "_types", {})
            import_module(f"{app}.transitions").register_entry_types()
            found.update(dict.fromkeys(entry_types.list_entry_types(), app))
    assert set(found) == known  # or an app is missing in WRITERS
    return found


@pytest.mark.parametrize("app", APPS)
def test_no_statement_names_a_table_of_another_app(app: str) -> None:
    tables = {
        model._meta.db_table: model._meta.app_label
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label in APPS
    }
    assert len(tables) > len(APPS)
    wrong = [
        (word, where)
        for word, where in list_words(app)
        if tables.get(word.partition(".")[0], app) != app
    ]
    assert wrong == []


@pytest.mark.parametrize("app", APPS)
def test_no_room_names_an_entry_type_of_a_room_above_it(
    app: str, owners: dict[str, str]
) -> None:
    above = APPS[: APPS.index(app)]
    found = [each for each in list_words(app) if owners.get(each[0], app) in above]
    assert found == []


@pytest.mark.parametrize("app", APPS[APPS.index("console") + 1 :])
def test_no_app_below_the_console_names_its_addresses(app: str) -> None:
    found = [each for each in list_words(app) if each[0].startswith("console:")]
    assert found == []


def test_names_are_found_wherever_a_text_has_them() -> None:
    code = '''
"""Writes loop.emitted."""
SQL = f"SELECT {1} FROM ledger_run run WHERE run.id = 1"
def link(): return reverse("console:review")
'''
    words = {word for word, _ in list_words_of_code(code, "x")}
    assert {"ledger_run", "console:review"} <= words
    assert "loop.emitted" not in words
