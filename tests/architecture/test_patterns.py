"""No pattern of ours has possessive repeats or atomic groups: Pythons before 3.11.5 match
too much with them (python/cpython#106052), and commands that are dangerous would pass."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.compiled_patterns import APPS, ROOT, Compiled

FOLDERS = ("bench", "client", "examples", *(app for app in APPS if app != "checkrail"))
SOURCES = sorted(
    [ROOT / "manage.py", *(p for each in FOLDERS for p in (ROOT / each).rglob("*.py"))]
)
SEED = 36

# What a repeat may stand after, the repeat, and the plus that makes it possessive.
_UNSOUND = re.compile(
    r"""(?: \\. | \[ \^? \]? (?: \\. | [^\]\\] )* \] | [^\\\[(|*+?] )
        (?: [*+?] | \{ [0-9]*,?[0-9]* \} ) (?P<possessive> \+ )?
      | (?P<atomic> \(\?> ) | \\. | \[ \^? \]? (?: \\. | [^\]\\] )* \] | .""",
    re.VERBOSE | re.DOTALL,
)
_IMPORTS_RE = re.compile(r"^ *(?:import re\b|from re import)", re.MULTILINE)
_SIGNS = ("++", "*+", "?+", "}+", "(?>")
# Words with two plus signs: compilers, and what joins texts in some languages.
_WORDS = re.compile(r"(?<![\w)])(?:c|g|clang)\+\+(?![^ |])|(?<=[\" ])\+\+(?=[\" ])")


def is_unsound(pattern: str) -> bool:
    """Whether a pattern, or a part of one, holds what this test is about."""
    if not any(sign in pattern for sign in _SIGNS):
        return False
    found = _UNSOUND.finditer(_WORDS.sub("", pattern))
    return any(match["possessive"] or match["atomic"] for match in found)


def parse_unsound(pattern: str, flags: int) -> bool:
    """The same of a whole pattern, in the words of Python's own parser."""
    parsed = re._parser.parse(pattern, flags)  # type: ignore[attr-defined]
    return bool(re.search(r"\b(?:POSSESSIVE_REPEAT|ATOMIC_GROUP)\b", repr(parsed)))


def list_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every text of a module but its docstrings; what is put into one counts as a group."""
    parts: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts.update(node.values)
            yield (
                node.lineno,
                "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "(?:x)"
                    for part in node.values
                ),
            )
        elif isinstance(node, ast.Expr):
            parts.add(node.value)
        elif isinstance(node, ast.Constant) and node not in parts:
            if isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("latin-1")
            elif isinstance(node.value, str):
                yield node.lineno, node.value


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> list[Compiled]:
    """In a new process, where nothing is compiled yet."""
    data = {"CHECKRAIL_DATA": str(tmp_path_factory.mktemp("data"))}
    hidden = {"DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-m", "tests.architecture.compiled_patterns", str(SEED)],
        cwd=ROOT,
        env=kept | data,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Compiled(*each) for each in json.loads(done.stdout.splitlines()[-1])]


def list_own(compiled: list[Compiled]) -> list[Compiled]:
    own = (each for each in compiled if Path(each.file).is_relative_to(ROOT))
    return [each for each in own if "site-packages" not in each.file]


def test_no_pattern_that_is_compiled_is_unsound(compiled: list[Compiled]) -> None:
    own = list_own(compiled)
    assert len(own) >= 700, "the process did not see all that is imported"
    unsound = [each for each in own if parse_unsound(each.pattern, each.flags)]
    assert unsound == []


def test_no_text_of_a_source_is_part_of_an_unsound_pattern() -> None:
    """Also of those that are compiled when something rare is judged."""
    unsound = []
    for source in SOURCES:
        code = source.read_text(encoding="utf-8")
        if _IMPORTS_RE.search(code) is None:
            continue
        unsound += [
            f"{source.relative_to(ROOT)}:{line}: {text!r}"
            for line, text in list_texts(ast.parse(code))
            if is_unsound(text)
        ]
    assert unsound == []


def test_both_looks_agree_on_every_pattern_there_is(compiled: list[Compiled]) -> None:
    """Patterns of the standard library and of packages have what ours have not."""
    verbose = re.VERBOSE.value
    judged = [each for each in compiled if not each.flags & verbose]
    differ = [
        each.pattern
        for each in judged
        if is_unsound(each.pattern) != parse_unsound(each.pattern, each.flags)
    ]
    assert differ == []


@pytest.mark.parametrize(
    "pattern",
    ["a++", "a*+b", "a?+", r"\d{2,}+", "[a+]{3}+", "(?:ab?c)*+", "(?>a)b", "x(?>a|b)"],
)
def test_what_is_unsound_is_noticed(pattern: str) -> None:
    assert is_unsound(pattern)
    assert parse_unsound(pattern, 0)
    written = pattern.replace("{", "{{").replace("}", "}}")
    tree = ast.parse(f"import re\nre.compile(rf'{{START}}{written}')")
    assert [text for _, text in list_texts(tree) if is_unsound(text)]


@pytest.mark.parametrize(
    "pattern",
    [
        "a+",
        r"a\++",
        r"\\+",
        "[*+]+",
        "[]+]+",
        r"[\]*+]",
        "a+?b+",
        r"c\+\+",
        "(?=a)",
        "a|+",
    ],
)
def test_what_is_sound_is_let_be(pattern: str) -> None:
    assert not is_unsound(pattern)
