"""Conditions of the rules about files that are emptied or overwritten."""

from __future__ import annotations

import re

from guidance.core.shell_commands.paths import is_root, is_system_file, is_temporary
from guidance.core.shell_commands.rules.files.valuable_files import (
    is_home_setting,
    is_irreplaceable,
    is_marker,
)
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.word_lists import split_names

# A script of sed that leaves nothing of any file.
_LEAVES_NOTHING = re.compile(
    r"\s*(?:(?:(?:0|1),\$|,|%)?\s*d|/(?:\.\*?|\^|\.\+|\$|\^\.\*\$?)/\s*d|s(.)\^?\.\*\$?\1\1g?)\s*;?\s*"
)
_OUTPUT = ("-o", "--output", "-O", "--output-document", "-outfile", "--out")
# Options that name the folder a download goes to.
_FOLDERS = {
    "aria2c": ("-d", "--dir"),
    "curl": ("--output-dir",),
    "wget": ("-P", "--directory-prefix"),
}
_ETC = re.compile(r"/etc/.+|/usr/(?:lib|share)/.+|/boot/.+")
_SOURCES = split_names(
    "src source sources app internal cmd pkg server backend frontend"
)
_MANIFESTS = split_names(
    "package.json package-lock.json yarn.lock pnpm-lock.yaml Cargo.toml Cargo.lock "
    "pyproject.toml requirements.txt go.mod Gemfile pom.xml build.gradle Makefile "
    "CMakeLists.txt README.md"
)
_OLD_COPY = re.compile(
    r"(?:^|[/._-])(?:old|backup|bak|previous|prev|snapshot)(?:[/._-]|\d)"
)
_PROGRAM = re.compile(
    r"(?:/usr)?/s?bin/(?:bash|sh|dash|zsh|su|sudo|login|ssh|sshd|systemctl|init|mount|chmod"
    r"|ls|cp|mv|rm|cat|env)|(?:/usr)?/lib(?:64|32)?/.*"
)
_CODE = re.compile(
    r".*\.(?:py|jsx?|tsx?|mjs|go|rs|c|cc|cpp|h|hpp|java|kt|rb|php|cs|swift|scala|ex)"
)
_BORROWED = split_names("vendor third_party vendored static public assets generated")
_OTHER_ITEMS = ("directory", "dir", "container", "symboliclink", "junction", "hardlink")
_NO_VALUES = ("", "$null", "''", '""')
_PATTERN = frozenset("*?[")
_HAS_ENDING = re.compile(r"(?:.*/)?[^/]+\.[A-Za-z]\w{0,4}")


def _empties_in_place(found: Invocation) -> bool:
    """sed -i with a script after which nothing is left."""
    scripts = [
        found.flags[flag] for flag in ("-e", "--expression") if flag in found.flags
    ]
    files = found.operands
    if not scripts:
        scripts, files = found.operands[:1], found.operands[1:]
    return any(_LEAVES_NOTHING.fullmatch(script[:64]) for script in scripts) and any(
        _is_kept(found, path) for path in files
    )


def _is_fed_nothing(found: Invocation) -> bool:
    """tee and its like, with nothing to write."""
    return (
        found.fed is not None
        and not found.fed.strip()
        and any(_is_kept(found, path) for path in _list_targets(found))
    )


def _sets_nothing(found: Invocation) -> bool:
    """Set-Content with an empty value."""
    words = [word.lower() for word in found.argv]
    for flag in ("-value", "-v", "-inputobject"):
        if flag in words[:-1]:
            return words[words.index(flag) + 1] in _NO_VALUES
    if len(found.operands) > 1:
        return found.operands[-1].lower() in _NO_VALUES
    return _is_fed_nothing(found)


def _makes_file(found: Invocation) -> bool:
    """New-Item makes files, unless it is told otherwise."""
    return not any(word.lower() in _OTHER_ITEMS for word in found.argv[1:])


def _list_targets(found: Invocation) -> list[str]:
    named = [
        found.flags[flag] for flag in ("-path", "-filepath") if found.flags.get(flag)
    ]
    return named or found.operands


def _is_kept(found: Invocation, path: str) -> bool:
    """Something would be missed: not temporary, not made just now, not always empty."""
    return not (
        is_temporary(path, folder=found.folder)
        or path.removeprefix("./") in found.made
        or path == "/dev/null"
        or is_marker(path)
    )


def _downloads_over(found: Invocation) -> bool:
    named = [
        value
        for flag, value in found.flags.items()
        if value and (flag.lower() in _OUTPUT or flag in _OUTPUT)
    ]
    folders = [
        value
        for flag in _FOLDERS.get(found.name, ())
        if (value := found.flags.get(flag))
    ]
    # Without a name the file is called as at its address.
    names = named or [
        word.partition("?")[0].rpartition("/")[2] for word in found.operands
    ]
    paths = [
        *named,
        *(f"{each.rstrip('/')}/{name}" for each in folders for name in names),
    ]
    return any(
        _is_protected(found, path) or _is_own_source(path) or _PROGRAM.fullmatch(path)
        for path in paths
    )


def _is_protected(found: Invocation, path: str) -> bool:
    if path.removeprefix("./") in found.made:
        return False
    if is_temporary(path, folder=found.folder):
        return False
    return is_irreplaceable(path) or is_system_file(path) or bool(_ETC.fullmatch(path))


def _is_own_source(path: str) -> bool:
    """Code in the place of one's own code, or a project's own list of parts."""
    if path.removeprefix("./") in _MANIFESTS:
        return True
    parts = path.removeprefix("./").split("/")
    return (
        len(parts) > 1
        and parts[0] in _SOURCES
        and _BORROWED.isdisjoint(parts)
        and _CODE.fullmatch(path) is not None
    )


def _lands_over(found: Invocation) -> bool:
    target = _find_target(found)
    return target != "" and _is_protected(found, target)


def _lands_over_home(found: Invocation) -> bool:
    target = _find_target(found)
    return target != "" and is_home_setting(target) and target not in found.made


def _find_target(found: Invocation) -> str:
    """Where one file is copied or moved to."""
    if len(found.operands) != 2 or found.has("-t") or found.has("--target-directory"):
        return ""
    source, target = found.operands
    # A file that is only given another name stays what it is.
    return "" if source.startswith(f"{target}.") and found.name == "mv" else target


def _writes_over_home(found: Invocation) -> bool:
    return any(is_home_setting(path) for path in found.operands)


def _writes_over_input(found: Invocation) -> bool:
    return any(
        path in found.inputs and _is_kept(found, path) for path in found.operands
    )


def _unpacks_over_root(found: Invocation) -> bool:
    first = found.argv[1] if len(found.argv) > 1 else ""
    unpacks = "x" in first.lstrip("-") or found.has("--extract") or found.has("-x")
    folder = found.flags.get("-C") or found.flags.get("--directory") or ""
    return unpacks and folder in ("/", "~", "/etc", "/home")


def _unpacks_over_sources(found: Invocation) -> bool:
    """Into the working folder by name, or into one that holds sources."""
    flags = ("-d", "-o", "-destinationpath")
    words = found.argv
    folder = next((found.flags[flag] for flag in flags if found.flags.get(flag)), "")
    lower = [word.lower() for word in words]
    for flag in flags:
        if not folder and flag in lower[:-1]:
            folder = words[lower.index(flag) + 1]
    if not folder and found.name == "expand-archive":
        folder = "".join(found.operands[1:2])
    for word in words[1:]:
        if found.name.startswith("7z") and word.startswith("-o"):
            folder = word[2:]
    return _is_source_folder(folder)


def _is_source_folder(folder: str) -> bool:
    if not folder:
        return False
    plain = folder.replace("\\", "/").rstrip("/").removeprefix("./") or "/"
    return (
        plain in (".", "..", "~") or is_root(plain) or plain.split("/")[0] in _SOURCES
    )


def _unpacks_old_copy(found: Invocation) -> bool:
    folder = found.flags.get("-d", "")
    return bool(_OLD_COPY.search(" ".join(found.operands[:1]))) and not (
        folder and is_temporary(folder, folder=found.folder)
    )


def _unpacks_over_installed(found: Invocation) -> bool:
    """Where programs and their data stand for everybody."""
    folders = [found.flags.get(flag, "") for flag in ("-d", "-C", "--directory")]
    if found.name.startswith("7z"):
        folders += [word[2:] for word in found.argv if word.startswith("-o")]
    return any(folder.startswith(_INSTALLED) for folder in folders)


def _copies_folder(found: Invocation) -> bool:
    """xcopy takes the whole folder without a star."""
    return len(found.operands) > 1 and _is_source_folder(found.operands[-1])


def _lands_over_program(found: Invocation) -> bool:
    return len(found.operands) == 2 and bool(_PROGRAM.fullmatch(found.operands[1]))


def _moves_system(found: Invocation) -> bool:
    """A home, a system folder, or one of the programs that everything needs."""
    return any(
        is_root(path) or _PROGRAM.fullmatch(path) for path in found.operands[:-1]
    )


_OF_PERSON = re.compile(r"(?:~|/home/[^/]+|/Users/[^/]+)/[^./]")
_INSTALLED = ("/opt/", "/srv/", "/var/www", "/var/lib/", "/usr/")


def _goes_into_sources(found: Invocation) -> bool:
    """Everything of a folder, over a folder that holds sources."""
    if len(found.operands) < 2:
        return False
    *sources, target = found.operands
    whole = [each for each in sources if each.endswith(("/.", "/*", "\\*"))]
    if _is_source_folder(target):
        return bool(whole)
    # From one place of a person to another: neither is what the agent works on.
    return _OF_PERSON.match(target) is not None and any(map(_OF_PERSON.match, whole))


def _is_by_pattern(found: Invocation) -> bool:
    return any(
        not _PATTERN.isdisjoint(path) and not is_temporary(path, folder=found.folder)
        for path in found.operands
    )


def _puts_many_over_one(found: Invocation) -> bool:
    """Each over the one before: xargs -I{} mv {} all.txt."""
    words = found.operands[: len(found.operands) - len(found.more)]
    if len(words) != 2:
        return False
    source, target = words
    many = found.open_ended and UNKNOWN in source
    return (
        (many or any(source.startswith(place) for place in found.more))
        and UNKNOWN not in target
        and _HAS_ENDING.fullmatch(target) is not None
    )


def _mirrors_over_kept(found: Invocation) -> bool:
    """Not into a temporary folder."""
    return not found.operands or not is_temporary(
        found.operands[-1], folder=found.folder
    )


QUESTIONS: dict[str, Question] = {
    "all-into-sources": _goes_into_sources,
    "by-pattern": _is_by_pattern,
    "downloads-over": _downloads_over,
    "empties": _empties_in_place,
    "fed-nothing": _is_fed_nothing,
    "folder-into-sources": _copies_folder,
    "kept-target": _mirrors_over_kept,
    "lands-over": _lands_over,
    "lands-over-home": _lands_over_home,
    "many-over-one": _puts_many_over_one,
    "moves-system": _moves_system,
    "new-file": _makes_file,
    "over-home": _writes_over_home,
    "over-program": _lands_over_program,
    "own-input": _writes_over_input,
    "sets-nothing": _sets_nothing,
    "unpacks-old-copy": _unpacks_old_copy,
    "unpacks-over-installed": _unpacks_over_installed,
    "unpacks-over-root": _unpacks_over_root,
    "unpacks-over-sources": _unpacks_over_sources,
}
