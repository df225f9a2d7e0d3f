"""Puts a fault into functions that are loaded already: a fork needs no import then."""

from __future__ import annotations

import ast
import builtins
import gc
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutants.changes import ROOT

# What functions that are watched call, each with where it begins: whoever watches has a name
# of its own, as a test may watch while it is watched itself.
NAMES = (f"_entered_by_a_test_{number}" for number in count())

Codes = dict[tuple[str, int], CodeType]


def plant(path: str, tree: ast.Module) -> dict[FunctionType, CodeType]:
    """The functions that are others now, with what they were."""
    before = _compile(path, ast.parse(Path(ROOT, path).read_text()))
    after = _compile(path, tree)
    changed = {key: code for key, code in after.items() if before.get(key) != code}
    planted = {}
    for function in _list_functions(path):
        code = function.__code__
        other = changed.get((code.co_qualname, code.co_firstlineno))
        if other is not None and len(other.co_freevars) == len(code.co_freevars):
            planted[function] = code
            function.__code__ = other
    return planted


def restore(planted: Mapping[FunctionType, CodeType]) -> None:
    for function, code in planted.items():
        function.__code__ = code


def watch(
    path: str, note: Callable[[str, int], None]
) -> Mapping[FunctionType, CodeType]:
    """Let `note` hear of each line from which on a function of the file is entered."""
    name = next(NAMES)
    setattr(builtins, name, note)
    tree = ast.parse(Path(ROOT, path).read_text())
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            parts: list[ast.expr] = [ast.Constant(path), ast.Constant(node.lineno)]
            call = ast.Expr(ast.Call(ast.Name(name, ast.Load()), parts, []))
            node.body.insert(
                0, ast.fix_missing_locations(ast.copy_location(call, node))
            )
    return plant(path, tree)


def find_function(path: str, line: int) -> int:
    """The first line of the innermost function around a line; 0 where none is."""
    tree = ast.parse(Path(ROOT, path).read_text())
    around = (
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= line <= (node.end_lineno or line)
    )
    return max(around, default=0)


def _compile(path: str, tree: ast.Module) -> Codes:
    module = compile(tree, str(ROOT / path), "exec", dont_inherit=True)
    return {(each.co_qualname, each.co_firstlineno): each for each in _walk(module)}


def _walk(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _walk(each)


def _list_functions(path: str) -> list[FunctionType]:
    name = str(ROOT / path)
    # A server that runs in this process has put what is loaded out of the collector's sight.
    frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    found = [
        each
        for each in gc.get_objects()
        # Asking a lazy object for its class would wake it.
        if type(each) is FunctionType and each.__code__.co_filename == name
    ]
    if frozen:
        gc.freeze()
    return found
