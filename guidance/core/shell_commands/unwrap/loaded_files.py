"""Files that a tool loads on its own, where the same command writes and runs them."""

from __future__ import annotations

import re
from dataclasses import replace

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.interpreters import scan_content
from guidance.core.shell_commands.code.language import (
    JAVASCRIPT,
    PYTHON,
    RUBY,
    Language,
)
from guidance.core.shell_commands.code.other_languages import OTHER
from guidance.core.shell_commands.shell.tree import Script, Simple
from guidance.core.shell_commands.walk import Walk

_NEVER = re.compile(r"(?!)")
# Tests make and drop databases of their own.
_PYTHON_TESTS, _JAVASCRIPT_TESTS, _RUBY_TESTS = (
    replace(language, queries=_NEVER, purges=_NEVER, statements=_NEVER)
    for language in (PYTHON, JAVASCRIPT, RUBY)
)
# Names of files, who loads them, and what they are written in; None: a shell's text.
_TABLE: tuple[tuple[str, str, Language | None], ...] = (
    (
        r"conftest\.py|test_\w+\.py|\w+_test\.py",
        r"py\.?test|tox|nox|coverage",
        _PYTHON_TESTS,
    ),
    (
        r"[\w.-]+\.(?:test|spec)\.[cm]?[jt]sx?",
        r"vitest|jest|mocha|playwright|npm|pnpm|yarn|bun|node|npx",
        _JAVASCRIPT_TESTS,
    ),
    (r"\w+_spec\.rb", r"bundle|rspec|rake", _RUBY_TESTS),
    (
        r"noxfile\.py|tasks\.py|fabfile\.py|dodo\.py",
        r"nox|inv(?:oke)?|fab|doit",
        PYTHON,
    ),
    (r"setup\.py|hatch_build\.py|build\.py", r"pip3?|uv|build|poetry|hatch", PYTHON),
    (r"sitecustomize\.py|usercustomize\.py", r"python[\d.]*", PYTHON),
    (
        r"[\w.-]+\.config\.[cm]?[jt]s|\.\w+rc\.c?js"
        r"|[Gg]ulpfile\.js|Gruntfile\.js",
        r"eslint|prettier|vite|vitest|jest|webpack|rollup|babel|next|nuxt|mocha|gulp|grunt"
        r"|playwright|npm|pnpm|yarn|bun|node|tailwindcss|postcss",
        JAVASCRIPT,
    ),
    (
        r"Rakefile|\w+\.rake|Gemfile|.*\.gemspec",
        r"rake|bundle",
        RUBY,
    ),
    (r"Vagrantfile|Fastfile|Podfile|Dangerfile", r"vagrant|fastlane|pod|danger", RUBY),
    (r"\w+_test\.go", r"go", OTHER),
    (r"(?:build|settings|init)\.gradle(?:\.kts)?", r"gradlew?", OTHER),
    (r"CMakeLists\.txt|\w+\.cmake", r"cmake|ctest", OTHER),
    (r"build\.zig|build\.sbt|mix\.exs", r"zig|sbt|mix", OTHER),
    (r"\.envrc", r"direnv", None),
    (
        r"(?:pre|post)-(?:commit|push|checkout|merge|rewrite|receive|applypatch)|commit-msg"
        r"|prepare-commit-msg",
        r"git",
        None,
    ),
)
_LOADED = tuple(
    (
        re.compile(names),
        re.compile(rf"(?:^|[\s;&|/(`])(?:{runners})(?:$|[\s;&|)`])"),
        kind,
    )
    for names, runners, kind in _TABLE
)
_ANY = re.compile(
    rf"(?:^|/)(?:{'|'.join(names for names, _, _ in _TABLE)}|[^/]*\.ya?ml)\Z"
)
_PLAYBOOK = re.compile(r"(?:^|[\s;&|/])ansible-playbook\s")
_ABSENT = re.compile(r"\bstate:\s*[\"']?absent\b")


def run_loaded_files(walk: Walk, script: Script) -> None:
    """Judge what this command has written for a tool that it also starts."""
    paths = [path for path in walk.known.files if _ANY.search(path)]
    if not paths:
        return
    text = script.text
    for start, end in reversed(script.bodies):
        text = text[:start] + " " * (end - start) + text[end:]
    simple = Simple([], 0)
    simple.end = len(script.text)
    call = ProgramCall("", [], script, simple, (), -1)
    for path in paths:
        _run_file(walk, call, path, text)


def _run_file(walk: Walk, call: ProgramCall, path: str, text: str) -> None:
    name = path.rpartition("/")[2]
    if path.endswith((".yml", ".yaml")) and _PLAYBOOK.search(text):
        content = walk.known.get_file(path)
        if content is not None and _ABSENT.search(content.text):
            walk.report.add_whole("code-delete", call)
        return
    for names, runners, language in _LOADED:
        if names.fullmatch(name) is None or runners.search(text) is None:
            continue
        content = walk.known.get_file(path)
        if content is None or content.opaque:
            return
        if language is None:
            walk.walk_content(content, call, path)
        else:
            scan_content(walk, call, content, language)
        return
