"""Which arguments of which tools hold code, as a policy marks them."""

from __future__ import annotations

from collections.abc import Iterable

_NONE: frozenset[str] = frozenset()
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_OTHERS = bytes(range(128, 256))
_LONGEST = 1_000


def normalize_name(name: object) -> str:
    """Tools take Command, " command" and COMMAND for one name, and so must we."""
    folded = str(name).casefold()
    if folded.isalnum():
        return folded
    raw = folded.encode("utf-8", "surrogatepass").translate(None, _SIGNS)
    folded = raw.decode("utf-8", "surrogatepass")
    # With so many letters it is no marked name, whatever the signs between them are,
    # and to go through them takes a while.
    if folded.isalnum() or len(raw.translate(None, _OTHERS)) > _LONGEST:
        return folded
    return "".join(filter(str.isalnum, folded))


class Marks:
    """Marks such as Bash.command and *.sql, read once and asked at every call."""

    __slots__ = ("_begun", "_exact")

    def __init__(self, marks: Iterable[str]) -> None:
        exact: dict[str, set[str]] = {}
        begun: dict[str, set[str]] = {}
        for tool, _, argument in (mark.casefold().rpartition(".") for mark in marks):
            star = tool.endswith("*")
            names = (begun if star else exact).setdefault(tool.removesuffix("*"), set())
            names.add(normalize_name(argument))
        self._exact = {tool: frozenset(names) for tool, names in exact.items()}
        self._begun = {start: frozenset(names) for start, names in begun.items()}

    def get_names(self, tool: str) -> frozenset[str]:
        """The names, as `normalize_name` gives them, whose texts are code in this tool."""
        tool = tool.casefold()
        names = self._exact.get(tool, _NONE)
        for start, more in self._begun.items():
            if tool.startswith(start):
                names |= more
        return names
