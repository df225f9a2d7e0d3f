"""Commands that run tests, and whether their result tells how the tests went."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guidance.core.shell_commands import Program

RUNNERS = frozenset(
    [
        "pytest",
        "py.test",
        "tox",
        "nox",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "karma",
        "rspec",
        "phpunit",
        "ctest",
        "behave",
        "cypress",
    ]
)
# Programs that run tests when one of their first words says so.
_WITH_VERB = frozenset(
    [
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "deno",
        "go",
        "cargo",
        "make",
        "just",
        "mvn",
        "mvnw",
        "gradle",
        "gradlew",
        "dotnet",
        "mix",
        "sbt",
        "swift",
        "bazel",
        "rake",
        "rails",
        "composer",
        "hatch",
        "pdm",
        "task",
    ]
)
_VERB = re.compile(r"^(?:test|tests|vitest|jest|pytest)(?:[:_-].*)?$")
_MODULES = frozenset({"pytest", "unittest", "tox", "nox"})
_FIRST_WORDS = 3
# Behind one of these stands the name of a package, not what is run.
_OF_PACKAGES = frozenset(
    [
        *("add", "get", "i", "info", "install", "list", "ls", "outdated", "remove"),
        *("require", "rm", "show", "un", "uninstall", "up", "update", "upgrade"),
        *("view", "why"),
    ]
)
_KEEP_PACKAGES = frozenset(
    ["npm", "pnpm", "yarn", "bun", "deno", "go", "cargo", "composer", "pdm"]
)
# What most commands do not have, told by one search.
SIGN = re.compile(r"test|tox|nox|jest|mocha|ava\b|karma|rspec|phpunit|behave|cypress")


def find_test_run(parts: Sequence[Program]) -> tuple[str, bool] | None:
    """The text of the last test run, and whether the command's result is its own: a
    result that goes through a pipe or another command is not."""
    found = [part for part in parts if _runs_tests(part)]
    if not found:
        return None
    part = found[-1]
    end = part.span[1]
    # What comes last is most often what the result goes through.
    spans = (each.span for each in reversed(parts))
    return part.text, all(first < end >= last for first, last in spans)


def _runs_tests(part: Program) -> bool:
    program = part.name
    if program in RUNNERS:
        return True
    if program.startswith("python"):
        words = part.words
        module = words[2] if words[1:2] == ["-m"] and len(words) > 2 else ""
        return module.partition(".")[0] in _MODULES or words[1:3] == [
            "manage.py",
            "test",
        ]
    return program in _WITH_VERB and _has_verb(part)


def _has_verb(part: Program) -> bool:
    for word in part.words[1 : 1 + _FIRST_WORDS]:
        if part.name in _KEEP_PACKAGES and word in _OF_PACKAGES:
            return False
        if _VERB.match(word):
            return True
    return False
