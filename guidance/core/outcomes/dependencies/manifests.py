"""Dependencies that an edit puts into a manifest or a lock file.

Files are read line by line: an edit often holds a part of one, which no parser reads. A
name that a diff takes out and puts in again is a new version, and not added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from guidance.core.outcomes.dependencies.names import (
    COMPOSER,
    CRATES,
    GEMS,
    GO,
    MAVEN,
    NPM,
    PYPI,
    build_name,
)

_PACKAGE = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_PEP_508 = rf"(?P<name>{_PACKAGE})\s*(?:\[[^\]]*\])?\s*(?:[<>=!~@;#]|$)"
_SPEC = (
    r"(?:[\^~<>=*]|[vV]?\d|latest|next|file:|link:|git|github:|npm:|workspace:|https?:)"
)


class Manifest(NamedTuple):
    """How the lines of files with such a name tell of dependencies.

    `skips` are names that look like dependencies and are none.
    """

    file: str
    registry: str
    line: re.Pattern[str]
    skips: frozenset[str] = frozenset()


def _build(file: str, registry: str, line: str, *skips: str) -> Manifest:
    return Manifest(file, registry, re.compile(line), frozenset(skips))


_JSON_SKIPS = ("version", "node", "npm", "yarn", "pnpm", "bun", "php", "vscode")
_TOML_SKIPS = (
    "version",
    "python",
    "edition",
    "rust-version",
    "requires-python",
    "name",
)
_MANIFESTS = (
    _build("*requirements*.txt", PYPI, rf"^\s*{_PEP_508}"),
    _build("*requirements*.in", PYPI, rf"^\s*{_PEP_508}"),
    _build("constraints*.txt", PYPI, rf"^\s*{_PEP_508}"),
    _build(
        "pyproject.toml",
        PYPI,
        rf"(?:^|[\[,])\s*[\"'](?P<name>{_PACKAGE})\s*(?:\[[^\]]*\])?\s*(?:[<>=!~@;]|[\"'])"
        rf"|^\s*(?P<key>{_PACKAGE})\s*=\s*(?:[\"']{_SPEC}|\{{)",
        *_TOML_SKIPS,
    ),
    _build(
        "Pipfile", PYPI, rf"^\s*(?P<name>{_PACKAGE})\s*=\s*(?:[\"']|\{{)", "name", "url"
    ),
    _build("poetry.lock", PYPI, rf"^name\s*=\s*\"(?P<name>{_PACKAGE})\""),
    _build("uv.lock", PYPI, rf"^name\s*=\s*\"(?P<name>{_PACKAGE})\""),
    _build(
        "package.json",
        NPM,
        rf"\"(?P<name>@?[\w.~/-]+)\"\s*:\s*\"{_SPEC}",
        *_JSON_SKIPS,
    ),
    _build(
        "package-lock.json",
        NPM,
        r"\"node_modules/(?:.*/node_modules/)?(?P<name>[^\"]+)\"",
    ),
    _build("yarn.lock", NPM, r"^\"?(?P<name>@?[^@\s\"]+)@"),
    _build(
        "pnpm-lock.yaml", NPM, r"^\s+'?/?(?P<name>@?[\w.~-]+(?:/[\w.~-]+)?)@\d[^:]*:"
    ),
    _build(
        "Cargo.toml",
        CRATES,
        rf"^\s*(?P<name>{_PACKAGE})\s*=\s*(?:[\"']{_SPEC}|\{{)",
        *_TOML_SKIPS,
    ),
    _build("Cargo.lock", CRATES, rf"^name\s*=\s*\"(?P<name>{_PACKAGE})\""),
    _build("go.mod", GO, r"^\s*(?:require\s+)?(?P<name>[\w.-]+\.[\w.-]+/\S+)\s+v\d"),
    _build("go.sum", GO, r"^(?P<name>[\w.-]+\.[\w.-]+/\S+)\s+v\d"),
    _build("Gemfile", GEMS, r"^\s*gem\s+[\"'](?P<name>[^\"']+)"),
    _build("Gemfile.lock", GEMS, r"^ {4}(?P<name>[\w.-]+) \("),
    _build(
        "composer.json", COMPOSER, rf"\"(?P<name>[\w.-]+/[\w.-]+)\"\s*:\s*\"{_SPEC}"
    ),
    _build("pom.xml", MAVEN, r"<artifactId>(?P<name>[^<]+)</artifactId>"),
    _build(
        "build.gradle*",
        MAVEN,
        r"(?:mplementation|api|ompileOnly|untimeOnly)\W+[\"'](?P<name>[^\"':]+:[^\"':]+)",
    ),
)
# Lists of other things in a TOML file; they begin at their key and end with a bracket.
_OTHER_LIST = re.compile(
    r"^\s*(?:keywords|classifiers|authors|maintainers|dynamic|license-files|packages"
    r"|include|exclude|select|ignore|extend-\w+|testpaths|markers|addopts|source|omit"
    r"|filterwarnings|target-version|files|features|members)\s*=\s*\["
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update) File: (?P<file>.+)$")
_HEADER = re.compile(r"^(?:\+\+\+|---) ")


def list_added(path: str, content: str, *, is_diff: bool) -> list[str]:
    """The names that an edit of this file adds, each once, in order."""
    if content.startswith("*** Begin Patch"):
        return [
            name for file, part in _split_patch(content) for name in _read(file, part)
        ]
    lines = content.splitlines()
    return _read(path, lines if is_diff else [f"+{line}" for line in lines])


def _read(path: str, lines: Iterable[str]) -> list[str]:
    manifest = _find_manifest(path)
    if manifest is None:
        return []
    added: dict[str, None] = {}
    removed: set[str] = set()
    other = False
    for line in lines:
        other = other or _OTHER_LIST.match(line[1:]) is not None
        if other:
            other = "]" not in line
            continue
        if line[:1] not in ("+", "-") or _HEADER.match(line):
            continue
        for found in manifest.line.finditer(line[1:]):
            name = next(filter(None, found.groups()))
            if name.casefold() in manifest.skips:
                continue
            known = build_name(manifest.registry, name)
            if line[0] == "+":
                added[known] = None
            else:
                removed.add(known)
    return [name for name in added if name not in removed]


def _find_manifest(path: str) -> Manifest | None:
    file = path.replace("\\", "/").rpartition("/")[2]
    return next((each for each in _MANIFESTS if fnmatchcase(file, each.file)), None)


def _split_patch(patch: str) -> Iterator[tuple[str, list[str]]]:
    """The files of a patch as coding agents write it, and their lines."""
    file, lines = "", list[str]()
    for line in patch.splitlines():
        begins = _PATCHED.match(line)
        if begins is None:
            lines.append(line)
            continue
        if file:
            yield file, lines
        file, lines = begins["file"].strip(), []
    if file:
        yield file, lines
