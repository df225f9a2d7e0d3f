"""A path as it was given, and where it leads."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from dataclasses import dataclass

from safetext.plain import make_visible
from safetext.segments import split_segments
from safetext.texts import Group, group_segments
from safetext.warnings import build_warnings

# What file systems commonly take for a name and for a whole path.
_NAME = 255
_PATH = 1024
_DRIVE = re.compile(r"[A-Za-z]:")
_SHARE = "\\\\"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPath:
    """`normal` is empty where the path is already in its shortest form."""

    groups: tuple[Group, ...]
    normal: str
    warnings: tuple[str, ...]


def show_path(path: str) -> ShownPath:
    normal = normalise(path)
    return ShownPath(
        groups=group_segments(split_segments(path, one_line=True)),
        normal="" if normal == path else make_visible(normal),
        warnings=(*_list_warnings(path), *build_warnings(path)),
    )


def normalise(path: str) -> str:
    """Without `.`, `..` and doubled slashes, as far as that can be told."""
    if _DRIVE.match(path) or path.startswith(_SHARE):
        path = path.replace("\\", "/")
    # Whose home it is and where that lies is not known: nothing cancels it out.
    home, slash, rest = path.partition("/") if path.startswith("~") else ("", "", path)
    return home + slash + posixpath.normpath(rest) if rest else path


def _list_warnings(path: str) -> tuple[str, ...]:
    names = re.split(r"[/\\]", path)
    normal = normalise(path)
    said: list[str] = []
    if ".." in names:
        leaves = normal.startswith(("..", "~/.."))
        said.append(
            "The path goes up (..) and leaves the folder it starts in."
            if leaves
            else f"The path goes up (..) and leads to {make_visible(normal)}."
        )
    if path.startswith(("/", _SHARE)) or _DRIVE.match(path):
        said.append("The path is absolute.")
    elif path.startswith("~"):
        said.append("The path starts in a home folder (~).")
    if any(name != name.strip() for name in names):
        said.append("A name in the path begins or ends with a space.")
    if any(name.endswith(".") and name.strip(".") for name in names):
        said.append("A name in the path ends with a dot, which Windows drops.")
    longest = max(map(len, names))
    if longest > _NAME or len(path) > _PATH:
        said.append(f"The path is very long: {len(path):,} characters.")
    composed = unicodedata.is_normalized("NFC", path)
    if composed and not unicodedata.is_normalized("NFD", path):
        said.append(
            "The name has letters that can be spelt in two ways; here they are "
            "composed (NFC)."
        )
    return tuple(said)
