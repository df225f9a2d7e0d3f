"""The small faults that a function may have: one wrong operator, one leg, one filter less."""

from __future__ import annotations

import ast
import copy
import json
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

from tests.mutants.changes import ROOT

OTHERS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
SELECTING = frozenset({"filter", "exclude", "get", "Q", "update", "count", "When"})
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}
# What is said to people who read logs is held by no test, and need not be.
SAYING = frozenset({"logger", "logging", "warnings"})

T = TypeVar("T")
N = TypeVar("N", bound=ast.AST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    path: str
    line: int
    # What was there, and what is there instead.
    before: str
    after: str
    # The file with the fault in it.
    tree: ast.Module

    @property
    def sentence(self) -> str:
        return f"{self.path}:{self.line}  {self.before}  ->  {self.after}"


def choose_faults(
    changes: Mapping[str, Sequence[int]], *, count: int, seed: int
) -> list[Fault]:
    """So many at random of all there could be on the changed lines."""
    every = [
        fault
        for path, lines in sorted(changes.items())
        for fault in list_faults(path, Path(ROOT, path).read_text(), {*lines})
    ]
    chosen = random.Random(seed).sample(range(len(every)), min(count, len(every)))
    return [every[number] for number in sorted(chosen)]


def read_faults(written: Path) -> list[Fault]:
    """Those that somebody has written down: `path`, `before` and `after`, as a JSON list.

    `before` stands in the file once.
    """
    return [_read_fault(**each) for each in json.loads(written.read_text())]


def _read_fault(path: str, before: str, after: str) -> Fault:
    source = Path(ROOT, path).read_text()
    if source.count(before) != 1:
        sys.exit(f"mutants: {path} has {source.count(before)} times: {before}")
    start = source.index(before) + len(before) - len(before.lstrip())
    return Fault(
        path=path,
        line=source.count("\n", 0, start) + 1,
        before=" ".join(before.split()),
        after=" ".join(after.split()),
        tree=ast.parse(source.replace(before, after)),
    )


def list_faults(path: str, source: str, lines: Set[int]) -> Iterator[Fault]:
    """Every fault on one of the lines, inside a function."""
    tree = ast.parse(source)
    for node in _walk_functions(tree):
        line = getattr(node, "lineno", 0)
        if line not in lines:
            continue
        for other in _list_others(node):
            yield Fault(
                path=path,
                line=line,
                before=_show(node),
                after=_show(other),
                tree=cast("ast.Module", _replace(tree, node, other)),
            )


def _walk_functions(node: ast.AST, *, inside: bool = False) -> Iterator[ast.AST]:
    """What runs when a function is called: no default, no annotation, no decorator."""
    parts: Iterable[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts, inside = node.body, True
    elif isinstance(node, ast.AnnAssign):
        parts = [node.value] if node.value else []
    elif _is_beside(node):
        return
    elif inside:
        yield node
    for part in parts:
        yield from _walk_functions(part, inside=inside)


def _is_beside(node: ast.AST) -> bool:
    match node:
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name in SAYING
        case _:
            return isinstance(node, (ast.Assert, ast.Import, ast.ImportFrom))


def _list_others(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(ops=ops):
            for number, op in enumerate(ops):
                yield _change(node, ops=_put(ops, number, OTHERS[type(op)]()))
        case ast.BoolOp(values=values):
            for number in range(len(values)):
                left = values[:number] + values[number + 1 :]
                yield left[0] if len(left) == 1 else _change(node, values=left)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.IfExp(test=ast.Name() | ast.Attribute() | ast.Call() as test):
            yield _change(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.If(test=ast.Name() | ast.Attribute() | ast.Call() as test):
            yield _change(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.BinOp(op=ast.Add() | ast.Sub() as op):
            yield _change(node, op=ast.Sub() if isinstance(op, ast.Add) else ast.Add())
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
        case ast.Expr(ast.Await() | ast.Call()):
            yield ast.Pass()
        case ast.Raise() | ast.Continue() | ast.AugAssign():
            yield ast.Pass()
        case ast.Call():
            yield from _list_other_calls(node)
        case _:
            pass


def _list_other_calls(call: ast.Call) -> Iterator[ast.AST]:
    """One condition less, one key of an order less or turned round, max for min."""
    match call.func:
        case ast.Name(id=name) if name in TWINS:
            yield _change(call, func=ast.Name(TWINS[name], ast.Load()))
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in SELECTING:
            for number in range(len(call.keywords)):
                left = call.keywords[:number] + call.keywords[number + 1 :]
                yield _change(call, keywords=left)
        case ast.Attribute(attr="order_by"):
            for number, key in enumerate(call.args):
                yield _change(call, args=call.args[:number] + call.args[number + 1 :])
                match key:
                    case ast.Constant(value=str() as text):
                        turned = text[1:] if text[:1] == "-" else f"-{text}"
                        other = ast.Constant(turned)
                        yield _change(call, args=_put(call.args, number, other))
                    case _:
                        pass
        case _:
            pass


def _put(items: list[T], number: int, other: T) -> list[T]:
    return [*items[:number], other, *items[number + 1 :]]


def _change(node: N, **fields: object) -> N:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _replace(tree: ast.AST, node: ast.AST, other: ast.AST) -> ast.AST:
    """A copy of the tree in which `other` stands where `node` was."""
    if tree is node:
        return ast.fix_missing_locations(ast.copy_location(copy.copy(other), node))
    fields: dict[str, object] = {}
    for name, value in ast.iter_fields(tree):
        if isinstance(value, ast.AST):
            fields[name] = _replace(value, node, other)
        elif isinstance(value, list):
            fields[name] = [
                _replace(each, node, other) if isinstance(each, ast.AST) else each
                for each in value
            ]
    return _change(tree, **fields)


def _show(node: ast.AST) -> str:
    """One line, short enough to be read."""
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 90 else f"{text[:60]} … {text[-28:]}"
