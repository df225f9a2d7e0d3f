"""Several edits of one file, made to be slow for each part of their planning.

A text has at most 256 KiB, a body 1 MiB; there are at most 200 edits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain, cycle, islice
from random import Random
from string import ascii_letters

from guidance.core.edits import Edit
from guidance.core.tools.calls import Call, MultiEditCall
from tests.guidance.core.secrets.bombs import BOMBS
from tests.guidance.core.secrets.samples import body

TEXT = 262_144
MANY = 200


def _call(original: str, *edits: tuple[str, str], every: bool = False) -> MultiEditCall:
    return MultiEditCall(
        tool="MultiEdit",
        file_path="a.py",
        original=original[:TEXT],
        edits=tuple(Edit(old=old, new=new, replace_all=every) for old, new in edits),
    )


def _lines(count: int, length: int, alphabet: str = "abcdef ") -> list[str]:
    draw = Random(count * length).choices
    return ["".join(draw(alphabet, k=length)) for _ in range(count)]


def _blocks(lines: list[str], size: int, count: int, mark: str = "") -> Iterable[str]:
    """Some lines in a row, each a little different from what stands in the file."""
    step = max(1, (len(lines) - size) // count)
    for at in islice(cycle(range(0, len(lines) - size + 1, step)), count):
        yield "\n".join(f"{mark}{line[len(mark) :]}" for line in lines[at : at + size])


def _backwards(lines: list[str], size: int, count: int) -> Iterable[str]:
    return (block[::-1] for block in _blocks(lines, size, count))


def edit_bombs() -> Mapping[str, Call]:
    plain = {**_searching(), **_comparing(), **_changing()}
    return {**plain, **_in_other_letters(plain), **_with_secrets(), **_colliding()}


def _in_other_letters(calls: Mapping[str, MultiEditCall]) -> Mapping[str, Call]:
    """The same in letters that take more of a body, and that are compared one by one."""
    far = {ord(letter): 0x4E00 + 131 * at for at, letter in enumerate("abcdef x#")}
    others: dict[str, Call] = {}
    for name, call in calls.items():
        edits = [(each.old, each.new) for each in call.edits]
        original = call.original or ""
        if len(original) + sum(map(len, chain(*edits))) <= TEXT:
            written = [(old.translate(far), new.translate(far)) for old, new in edits]
            others[f"{name}, in other letters"] = _call(
                original.translate(far), *written, every=call.edits[0].replace_all
            )
    return others


def _searching() -> Mapping[str, MultiEditCall]:
    a = "a" * TEXT
    crlf, cr_lf = "\r\n" * (TEXT // 2), "a\na\r\nb\r" * (TEXT // 7)
    calls: dict[str, MultiEditCall] = {
        "empty lines": _call("\n" * TEXT, ("b", "c")),
        "short lines": _call("a\n" * TEXT, ("b", "c")),
        "short lines of three kinds": _call(cr_lf, ("b\nc", "c")),
        "half line ends": _call(crlf, *[("\n", "x")] * MANY),
        "half line ends everywhere": _call(crlf, *[("\n", "x")] * MANY, every=True),
        "words": _call("a " * TEXT, *[("b c", "c")] * MANY),
        "lines of words": _call("a b\n" * TEXT, *[("a  c\n" * 250, "c")] * 20),
        "line ends of three kinds": _call(cr_lf, *[("b\n" * 1_000, "c")] * MANY),
        "everywhere, ambiguous": _call(a, *[("a" * 3_900, "c")] * MANY),
        "six places": _call(a, *[("a" * (TEXT - 5), "c")] * 2),
    }
    for length in (5, 6, 50, 99, 100, 2_000, 3_900):
        half = "a" * (length // 2)
        for size in (2_400, 20_000, 29_900, 100_000, TEXT):
            near = [(f"{half}b{half}", "x")] * MANY
            calls[f"nearly found, {length} in {size}"] = _call(a[:size], *near)
    return calls


def _comparing() -> Mapping[str, MultiEditCall]:
    calls: dict[str, MultiEditCall] = {}
    for length, size in ((2, 3), (20, 1), (60, 1), (60, 30), (40, 200), (600, 5)):
        lines = _lines(TEXT // (length + 1), length)
        text = "\n".join(lines)
        for count in (1, 8, MANY):
            what = f"{count} of {size} lines of {length}"
            room = max(1, min(count, TEXT * 5 // 2 // (size * (length + 1))))
            other = [(old, "x") for old in _backwards(lines, size, room)]
            near = [(old, "x") for old in _blocks(lines, size, room, mark="#")]
            calls[f"other lines, {what}"] = _call(text, *other)
            calls[f"similar lines, {what}"] = _call(text, *near)
    same = "aaaaaaaaaaaaaaaaaaaa\n"
    nearly = ("aaaaaaaaaaaaaaaaaaab\n", "x\n")
    line = "".join(_lines(1, TEXT - 1))
    return calls | {
        "the same line": _call(same * TEXT, nearly),
        "the same line everywhere": _call(same * TEXT, nearly, every=True),
        "the same lines": _call(same * TEXT, (nearly[0] * 300, "x\n"), every=True),
        "borders": _call("\r\n" * 1_200, ("  \n" + "\n" * 16, "x"), every=True),
        "one line": _call(line, (line[1:], "x")),
        "lines in other white space": _call(
            "a  b\n" * TEXT, *[("a b\n", "x")] * 3, every=True
        ),
    }


def _changing() -> Mapping[str, MultiEditCall]:
    one, other = _lines(20_000, 4), _lines(20_001, 5)
    calls: dict[str, MultiEditCall] = {
        "overlaps": _call("a\n" * 50, *[("a", "b")] * MANY, every=True),
        "another file": _call("\n".join(one), ("\n".join(one), "\n".join(other))),
        "a longer file": _call("a", ("a", "b\n" * 131_000)),
        "a shorter file": _call("b\n" * 50_000, ("b\n" * 50_000, "b")),
        "more line ends": _call("a\r\n" * 9_999, ("a", "b\n" * 20), every=True),
    }
    for places in (1_000, 3_000, 5_000, 9_999):
        for gap in ("", "\n", "\n" * 7, "x" * 20):
            for new in ("b", "b" * 40, "b\n" * 20, "b\n" * 3):
                text = f"a{gap}" * places
                shown = f"{places} places, {len(gap)} {gap[:1]!r} between, {new[:3]!r}"
                calls[f"{shown} {len(new)}"] = _call(text, ("a", new), every=True)
    for count in (1_500, 4_900):
        shuffled = one[:count]
        Random(count).shuffle(shuffled)
        change = "\n".join(one[:count]), "\n".join(shuffled)
        calls[f"{count} lines in another order"] = _call(change[0], change)
        every = ("a", "b\n")
        calls[f"{count} lines twice"] = _call("a\na\n" * count, every, every=True)
    return calls


def _with_secrets() -> Mapping[str, Call]:
    """Planning and searching, each of them slow."""
    calls: dict[str, Call] = {}
    similar = _lines(3_000, 60)
    file = "\n".join(similar)
    for name, text in BOMBS.items():
        whole, part = _written(text, 500_000), _written(text, 250_000)
        calls[f"{name} put in"] = _call("a", ("a", whole))
        calls[f"{name} taken out"] = _call(whole, (whole, "a"))
        calls[f"{name} around"] = _call(
            part.replace("\n", "\n@@a\n"), ("@@a", "b"), every=True
        )
        other = ((old, part) for old in _backwards(similar, 30, 3))
        calls[f"{name} in place of other lines"] = _call(file, *other)
        near = ((old, part) for old in _blocks(similar, 9, 3, mark="#"))
        calls[f"{name} in place of similar lines"] = _call(file, *near)
    return calls


def _written(text: str, size: int) -> str:
    """As much of it as takes so many bytes in a body; escapes count, too."""
    written = len(json.dumps(text, ensure_ascii=False).encode())
    return text[: min(TEXT, len(text) * size // written)]


def _colliding() -> Mapping[str, Call]:
    """Lines and letters that all fall into the same place of rapidfuzz's tables, and
    letters that look like line ends to a search."""
    calls: dict[str, Call] = {}
    for regions, size in ((1, 4_900), (2, 4_900), (7, 4_900), (20, 1_500), (60, 500)):
        changes = [_colliding_lines(number, size) for number in range(regions)]
        file = ("\n" * 8).join(old for old, _ in changes)
        calls[f"{regions} times {size} lines that collide"] = _call(file, *changes)
    letters = [chr(0x100 + slot + 128 * (slot == 0xC0)) for slot in _slots(0x3C0)]
    for length, count in ((60, 3_000), (640, 270), (1_280, 70), (2_560, 18)):
        line = f"{chr(0x3C0) * length}\n"
        old = ("".join(letters) * 40)[:length]
        calls[f"{length} letters that collide"] = _call(line * count, (old, "x"))
        many = "".join(chr(0x4E00 + n) for n in range(300)) + old
        calls[f"{length} of many letters"] = _call(line * count, (many[:length], "x"))
    looks = "\u010a" * 255_000
    keys = " ".join("AKIA@@" + body(16, seed=n) for n in range(99)).upper()
    calls["secrets in a long line"] = MultiEditCall(
        tool="MultiEdit",
        file_path="a",
        original=f"\U0001f600%% {looks} {keys} \n"[:TEXT],
        edits=(
            Edit(old="@@", new="", replace_all=True),
            Edit(old="%%", new="\u010a" * 200_000),
        ),
    )
    return calls


def _slots(key: int, count: int = 64) -> list[int]:
    """Where a table of 128 places looks for this key, one after the other."""
    slots: dict[int, None] = {}
    slot, rest = key % 128, key
    while len(slots) < count:
        slots[slot] = None
        slot, rest = (slot * 5 + rest + 1) % 128, rest >> 5
    return list(slots)


def _colliding_lines(number: int, size: int) -> tuple[str, str]:
    """Old and new; the lines of both are numbered by their first appearance."""
    names = [f"{one}{other}" for one in ascii_letters for other in ascii_letters]
    known = names[:384]
    slots = [names[256 + slot] for slot in _slots(385)]
    old = [*known, *(slots[n % 64] for n in range(size - 384))]
    new = [*reversed(known), *["!"] * (size - 384)]
    return "\n".join(old) + f"\n@{number}", "\n".join(new) + f"\n&{number}"
