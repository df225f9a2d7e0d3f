"""The core is pure: no clock, no chance, no I/O, nothing but itself."""

from __future__ import annotations

import ast
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tests.support.rows import each_row

ROOT = Path(__file__).parents[3]
CORE = ROOT / "guidance" / "core"
SOURCES = sorted(CORE.rglob("*.py"))

IMPORTS = {
    "__future__",
    "binascii",
    "bisect",
    "collections",
    "collections.abc",
    "dataclasses",
    "datetime",
    "decimal",
    "fnmatch",
    # What a pure function has said may be remembered, within bounds.
    "functools",
    "graphlib",
    "hashlib",
    "hmac",
    "itertools",
    "json",
    "json.encoder",
    "jsonschema_rs",
    "math",
    "operator",
    "rapidfuzz.distance",
    "re",
    "re2",
    "types",
    "typing",
    "unicodedata",
}
# What those three bring along, and nothing else.
PARSERS = {"jsonschema_rs", "rapidfuzz", "re2"}
# Builtins that no import contract sees. hash differs from process to process.
CALLS = {
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "globals",
    "hash",
    "id",
    "input",
    "open",
    "print",
    # The clock of datetime, whose moments and spans are fine.
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "date.today",
}

LOAD_ALL = """
import importlib, sys
sys.path += [{root!r}, {packages!r}]
for name in {names!r}:
    importlib.import_module(name)
print("\\n".join(sys.modules))
"""


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def get_module_name(source: Path) -> str:
    parts = source.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@each_row("source", SOURCES, ids=get_module_name)
def test_a_module_imports_nothing_impure_and_calls_nothing_impure(
    source: Path,
) -> None:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    foreign = {
        name
        for name in imports(tree)
        if name not in IMPORTS and not name.startswith("guidance.core")
    }
    assert foreign == set()
    assert CALLS.isdisjoint(calls(tree))


def test_a_bare_interpreter_loads_the_core_with_a_handful_of_pure_parsers() -> None:
    script = LOAD_ALL.format(
        root=str(ROOT),
        packages=sysconfig.get_path("platlib"),
        names=[get_module_name(source) for source in SOURCES],
    )
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    packages = {name.partition(".")[0] for name in loaded if "cython" not in name}
    assert packages - sys.stdlib_module_names == {"__main__", "guidance"} | PARSERS
    ours = {name for name in loaded if name.startswith("guidance.")}
    assert all(name.startswith("guidance.core") for name in ours)
