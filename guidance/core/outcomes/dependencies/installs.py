"""Dependencies that a command installs: `npm install left-pad`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from guidance.core.outcomes.dependencies.names import (
    COMPOSER,
    CONDA,
    CRATES,
    GEMS,
    GO,
    NPM,
    PYPI,
    build_name,
)
from guidance.core.shell_commands import Program


class Installer(NamedTuple):
    """`verbs` begin an installation; `values` are options that take the next word."""

    registry: str
    verbs: tuple[tuple[str, ...], ...]
    values: frozenset[str] = frozenset()


_PIP = frozenset(
    [
        "-r",
        "--requirement",
        "-c",
        "--constraint",
        "-e",
        "--editable",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "-t",
        "--target",
        "--prefix",
        "--root",
        "--platform",
        "--python-version",
    ]
)
_NODE = frozenset(
    ["--registry", "--prefix", "-w", "--workspace", "--cwd", "-C", "--dir", "--tag"]
)
_PYTHON_INSTALL = (("install",), ("add",), ("pip", "install"))
_INSTALLERS: Mapping[str, Installer] = {
    "pip": Installer(PYPI, (("install",),), _PIP),
    "pip3": Installer(PYPI, (("install",),), _PIP),
    "uv": Installer(PYPI, _PYTHON_INSTALL, _PIP | {"--group", "--package"}),
    "pdm": Installer(PYPI, (("add",),), frozenset({"-G", "--group"})),
    "poetry": Installer(PYPI, (("add",),), frozenset({"-G", "--group", "--source"})),
    "pipenv": Installer(PYPI, (("install",),), _PIP),
    "pipx": Installer(PYPI, (("install",), ("inject",))),
    "npm": Installer(NPM, (("install",), ("i",), ("add",)), _NODE),
    "pnpm": Installer(NPM, (("add",), ("install",), ("i",)), _NODE),
    "yarn": Installer(NPM, (("add",), ("global", "add")), _NODE),
    "bun": Installer(NPM, (("add",), ("install",), ("i",)), _NODE),
    "cargo": Installer(
        CRATES, (("add",), ("install",)), frozenset({"--features", "--vers"})
    ),
    "go": Installer(GO, (("get",), ("install",))),
    "gem": Installer(GEMS, (("install",),), frozenset({"-v", "--version"})),
    "bundle": Installer(GEMS, (("add",),), frozenset({"--version", "--group"})),
    "composer": Installer(COMPOSER, (("require",), ("global", "require"))),
    "conda": Installer(
        CONDA, (("install",),), frozenset({"-c", "--channel", "-n", "-p"})
    ),
    "mamba": Installer(
        CONDA, (("install",),), frozenset({"-c", "--channel", "-n", "-p"})
    ),
}
PROGRAMS = frozenset(_INSTALLERS) | {"python", "python3"}
# A path or an address is not the name of a package.
_NO_NAME = re.compile(r"^(?:\.{0,2}/|\.$|~|[a-z+]+://|git@|file:)")
_PIP_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*")


def list_installed(part: Program) -> list[str]:
    """What this simple command adds; nothing where it installs what a file lists."""
    program = part.name
    if program not in PROGRAMS:
        return []
    words = part.words
    if program in ("python", "python3") and words[1:3] == ["-m", "pip"]:
        program, words = "pip", words[2:]
    installer = _INSTALLERS.get(program)
    if installer is None:
        return []
    for verb in installer.verbs:
        if tuple(words[1 : 1 + len(verb)]) == verb:
            return _list_names(installer, words[1 + len(verb) :])
    return []


def _list_names(installer: Installer, words: list[str]) -> list[str]:
    names = []
    skip = False
    for word in words:
        if skip or word.startswith("-"):
            skip = not skip and word in installer.values
            continue
        name = _cut_version(installer.registry, word)
        if name:
            names.append(build_name(installer.registry, name))
    return names


def _cut_version(registry: str, word: str) -> str:
    if _NO_NAME.match(word):
        return ""
    if registry in (PYPI, CONDA):
        found = _PIP_NAME.match(word.rpartition("::")[2])
        return found.group() if found else ""
    if registry == COMPOSER:
        return word.partition(":")[0]
    # The first letter of a scope is an @, too: @acme/pad@1.0.
    return word[:1] + word[1:].partition("@")[0]
