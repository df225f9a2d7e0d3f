"""What a script does only when it is told to: `if args.delete:`, without `--delete`.

Scripts that only show what they would do are written that way. Read are flags that are off
unless they are given: of argparse, and those looked for among the arguments.
"""

from __future__ import annotations

import re

_FLAG = re.compile(
    r"add_argument\(\s*(?:[\"']-\w[\"']\s*,\s*)?[\"']--([\w-]{2,40})[\"'](?:(?!default)[^()\n]){0,200}?"
    r"action\s*=\s*[\"']store_true[\"'](?![^()\n]{0,200}default)"
)
# Given by the program itself.
_GIVEN = re.compile(
    r"parse_(?:known_)?args\(\s*[^)\s]|\bsys\.argv\s*(?:\[[^\]\n]*\]\s*)?(?:\+?=(?!=)|\.(?!index))"
    r"|set_defaults|process\.argv\.(?:push|unshift|splice)"
)
_NAMED = re.compile(
    r"([A-Za-z_$][\w$]*)\s*=\s*(?:[\"']--([\w-]{2,40})[\"']\s+in\s+sys\.argv\b"
    r"|process\.argv\.includes\(\s*[\"'`]--([\w-]{2,40})[\"'`]\s*\))"
)
_CONDITION = re.compile(
    r"[ \t]*(?:el)?if[ \t]+(?:[A-Za-z_]\w*\.)?([A-Za-z_]\w*)[ \t]*(?::|and\b)"
)
_LEAVES = re.compile(
    r"[ \t]*if[ \t]+not[ \t]+(?:[A-Za-z_]\w*\.)?([A-Za-z_]\w*)[ \t]*:[ \t]*\n"
    r"(?:[ \t]+[^\n]*\n){0,6}?[ \t]+(?:return|continue|sys\.exit|raise SystemExit)\b"
)
_BRACED = re.compile(
    r"\bif\s*\(\s*([A-Za-z_$][\w$.]*)\s*(?:&&[^(){}\n]*)?\)\s*\{?\s*\Z"
)
_LONGEST = 16_384
_MOST_LINES = 120


def list_off(code: str, argv: list[str]) -> frozenset[str]:
    """The names of flags that the call does not give."""
    if len(code) > _LONGEST or _GIVEN.search(code):
        return frozenset()
    given = [word.lstrip("-").partition("=")[0] for word in argv if word[:1] == "-"]
    return frozenset(
        name
        for name, flag in _list_flags(code).items()
        # Any beginning of it would do.
        if not any(word and flag.startswith(word) for word in given)
    )


def is_below(code: str, place: int, off: frozenset[str]) -> bool:
    """Is the place reached only where one of these is on?"""
    return _is_below_indented(code, place, off) or _is_below_braced(code, place, off)


def _list_flags(code: str) -> dict[str, str]:
    """By the name that the program has for it."""
    parsed = {match[1].replace("-", "_"): match[1] for match in _FLAG.finditer(code)}
    named = {each[1]: each[2] or each[3] for each in _NAMED.finditer(code)}
    # A name that is given something else as well says nothing.
    return {
        name: flag
        for name, flag in {**parsed, **named}.items()
        if len(re.findall(rf"\b{re.escape(name)}\s*=(?!=)", code)) == (name in named)
    }


def _is_below_indented(code: str, place: int, off: frozenset[str]) -> bool:
    """Below an `if`, or after one that leaves without the flag; by indentation."""
    start = code.rfind("\n", 0, place) + 1
    depth = _measure(code[start : place + 1])
    for _ in range(_MOST_LINES):
        if start == 0:
            return False
        before = code.rfind("\n", 0, start - 1) + 1
        line = code[before:start]
        start = before
        if not line.strip():
            continue
        indent = _measure(line)
        if indent > depth:
            continue
        leaves = _LEAVES.match(code, start) if "if not" in line else None
        if leaves is not None and leaves[1] in off:
            return True
        if indent < depth:
            depth = indent
            condition = _CONDITION.match(line)
            if condition is not None and condition[1] in off:
                return True
    return False


def _measure(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_below_braced(code: str, place: int, off: frozenset[str]) -> bool:
    depth = 0
    for at in range(place - 1, max(0, place - 4_000), -1):
        if code[at] == "}":
            depth += 1
        elif code[at] == "{":
            if depth == 0:
                condition = _BRACED.search(code[max(0, at - 120) : at + 1])
                if condition is not None and condition[1] in off:
                    return True
            else:
                depth -= 1
    line = code[code.rfind("\n", 0, place) + 1 : place]
    condition = re.search(
        r"\bif\s*\(\s*([A-Za-z_$][\w$]*)\s*\)\s*(?:await\s+)?\S*\Z", line
    )
    return condition is not None and condition[1] in off
