"""What PowerShell's Get-ChildItem looks for, if it looks for names alone."""

from __future__ import annotations

REMOVING = ("remove-item", "ri")
_LISTING = ("get-childitem", "gci", "dir", "ls")
_NAMING = ("-include", "-filter")
_PLACING = ("-path", "-literalpath")


def list_searched_names(name: str, argv: list[str]) -> frozenset[str]:
    """The names below the working folder; nothing if it may find others, too."""
    if name not in _LISTING:
        return frozenset()
    names: set[str] = set()
    option = ""
    for word in argv[1:]:
        lower = word.lower()
        if word[:1] == "-":
            option = lower
        elif option in _NAMING:
            names.add(word)
        elif (option in _PLACING or not names) and not _is_here(word):
            return frozenset()
    return frozenset(names)


def _is_here(place: str) -> bool:
    """The working folder, or a part of it."""
    return (
        ".." not in place
        and place[:1] not in ("\\", "/", "~", "$")
        and ":" not in place
    )
