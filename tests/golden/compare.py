"""The difference between two folders of recorded files, in words."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice
from pathlib import Path

# What is shown of a file that differs a lot, and of a change of everything.
LINES_SHOWN = 24
FILES_SHOWN = 40
CONTEXT = 1


def list_differences(recorded: Path, played: Path) -> list[str]:
    """Name each file that differs, where in it, and its first lines that do."""
    before, after = _list_files(recorded), _list_files(played)
    told = [f"{name}: is recorded, and was not played" for name in before - after]
    told += [f"{name}: was played, and is not recorded" for name in after - before]
    told.sort()
    for name in sorted(before & after):
        old, new = (
            folder.joinpath(name).read_text(encoding="utf-8").splitlines()
            for folder in (recorded, played)
        )
        if old != new:
            told.append(_describe_file(name, old, new))
    if len(told) > FILES_SHOWN:
        more = len(told) - FILES_SHOWN
        told[FILES_SHOWN:] = [f"… and {more} more files"]
    return told


def _list_files(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found}


def _describe_file(name: str, old: list[str], new: list[str]) -> str:
    diff = list(unified_diff(old, new, lineterm="", n=CONTEXT))[2:]
    changed = sum(line[:1] in "+-" for line in diff)
    places = list(dict.fromkeys(_find_places(diff, old)))
    shown = list(islice(diff, LINES_SHOWN))
    lines = [f"{name}: {changed} lines differ, in {_join(places)}"]
    lines += [f"    {line[:300]}" for line in shown]
    if len(diff) > len(shown):
        lines.append(f"    … and {len(diff) - len(shown)} more lines")
    return "\n".join(lines)


def _find_places(diff: list[str], old: list[str]) -> Iterator[str]:
    """The heading of what each piece of the difference belongs to."""
    for line in diff:
        if line.startswith("@@"):
            number = int(line.split()[1].removeprefix("-").partition(",")[0])
            # A piece begins with lines around it: what differs comes after these.
            before = old[: number + CONTEXT]
            headings = (each for each in reversed(before) if each.startswith("=== "))
            yield next(headings, "=== its beginning").removeprefix("=== ")


def _join(places: list[str]) -> str:
    few = "; ".join(places[:3])
    return few if len(places) <= 3 else f"{few} and {len(places) - 3} more places"
