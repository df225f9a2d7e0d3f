"""Which lines of the product a diff has changed, and the tests nearest to them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Not served to anybody, or not code that a test could enter.
BESIDE = ("tests/", "bench/", "examples/", "demo/", "client/", "docs/")

_FILE = re.compile(r"^\+\+\+ b/(.+\.py)$")
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")

Lines = dict[str, set[int]]


def read_changes(since: str) -> Lines:
    """The lines that are there now and were not at `since`, by file."""
    command = ["git", "diff", "--unified=0", since, "--", "*.py"]
    diff = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {path: lines for path, lines in parse_diff(diff.stdout).items() if lines}


def parse_diff(diff: str) -> Lines:
    found: Lines = {}
    lines: set[int] = set()
    for line in diff.splitlines():
        if named := _FILE.match(line):
            path = named[1]
            lines = set()
            if not path.startswith(BESIDE) and "/migrations/" not in path:
                found[path] = lines
        elif hunk := _HUNK.match(line):
            first = int(hunk[1])
            lines.update(range(first, first + int(hunk[2] or 1)))
    return found


def take_whole(paths: Iterable[str]) -> Lines:
    """Every line of these files."""
    return {
        path: set(range(1, len(Path(ROOT, path).read_text().splitlines()) + 1))
        for path in paths
    }


def list_nearest(changes: Mapping[str, Set[int]]) -> list[str]:
    """The test folders of the changed packages, and every test that imports them."""
    return sorted({str(test) for path in changes for test in _list_nearest(path)})


def _list_nearest(path: str) -> Iterable[Path]:
    package = Path(path).parent
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    name = re.escape(module.rpartition(".")[2])
    parent = re.escape(module.rpartition(".")[0])
    imports = re.compile(
        rf"^\s*(?:from|import) {re.escape(module)}\b|^\s*from {parent} import .*\b{name}\b",
        re.MULTILINE,
    )
    for test in Path(ROOT, "tests").rglob("test_*.py"):
        here = test.relative_to(ROOT)
        if Path("tests", package) in here.parents or imports.search(test.read_text()):
            yield here
