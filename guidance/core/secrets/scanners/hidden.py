"""Secrets that were cut or hidden: zero-width characters, line ends, base64."""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, islice

from guidance.core.effort import Effort
from guidance.core.regex import (
    Span,
    compile_byte_pattern,
    compile_pattern,
)
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.scanners.tokens import JOINT, find_cut_starts, find_token_at

# Characters that nobody sees: control characters other than tab and line ends …
_CONTROLS = bytes(code for code in (*range(32), 127) if code not in b"\t\n\r")
# … and soft hyphen, joiners, marks of direction, fillers, variation selectors, tags.
_OTHERS = (
    *(("\x80", "\x9f"), ("\u00ad", "\u00ad"), ("\u034f", "\u034f")),
    *(("\u061c", "\u061c"), ("\u115f", "\u1160"), ("\u17b4", "\u17b5")),
    *(("\u180b", "\u180f"), ("\u200b", "\u200f"), ("\u202a", "\u202e")),
    *(("\u2060", "\u206f"), ("\u3164", "\u3164"), ("\ufe00", "\ufe0f")),
    *(("\ufeff", "\ufeff"), ("\uffa0", "\uffa0"), ("\ufff9", "\ufffb")),
    ("\U000e0000", "\U000e0fff"),
)
_RANGES = "".join(f"{first}-{last}" for first, last in _OTHERS)
_ANY_OTHER = compile_pattern(f"[{_RANGES}]")
_UNSEEN = re.compile(f"[{re.escape(_CONTROLS.decode())}{_RANGES}]+")
_JOINTS = compile_byte_pattern(JOINT)
# A token that was cut is looked for in so many characters after its start.
_CUT_REACH = 400
_CUT_PIECES = 8
# Base64 of ASCII alone: the top bit of each of its three bytes is 0, which leaves half
# of the letters in each of three places. No identifier passes that by chance. Lines of
# it that follow each other are one run.
_QUADS = (
    "(?:[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){5,}"
)
_BASE64 = compile_byte_pattern(
    rf"{_QUADS}(?:\r?\n{_QUADS})*[A-Za-z0-9+/_-]{{0,3}}={{0,2}}"
)
_LEAST_BASE64 = 20
_PRICE_OF_CUT = 25
_PRICE_OF_RUN = 5
# Of characters that nobody sees: taken out, and found again where something is told.
_RUNS_FOR_ONE = 2
_URLSAFE = bytes.maketrans(b"-_", b"+/")


class VisibleText:
    """A text without what nobody sees, and where each of its places was."""

    __slots__ = ("_before", "_places", "_removed", "text")

    def __init__(self, text: str, effort: Effort) -> None:
        self._before = text
        most = (effort.left + 1) * _RUNS_FOR_ONE
        self.text, runs = _UNSEEN.subn("", text, count=most)
        effort.spend(runs // _RUNS_FOR_ONE)
        # Where something was taken out, and how much up to there; seldom asked for.
        self._places: list[int] = []
        self._removed: list[int] = [0]

    def get_original_place(self, place: int) -> int:
        """Where the character at this place of the seen text stood."""
        if not self._places:
            runs = [run.span() for run in _UNSEEN.finditer(self._before)]
            self._removed += accumulate(end - start for start, end in runs)
            starts = (start for start, _ in runs)
            self._places = [
                at - gone for at, gone in zip(starts, self._removed, strict=False)
            ]
        return place + self._removed[bisect_right(self._places, place)]


def strip_invisible(text: str, data: bytes, effort: Effort) -> VisibleText | None:
    """None where everything in the text can be seen, as is usual."""
    return VisibleText(text, effort) if has_invisible(text, data) else None


def has_invisible(text: str, data: bytes) -> bool:
    if len(data.translate(None, _CONTROLS)) != len(data):
        return True
    return not text.isascii() and bool(_ANY_OTHER.find(text, limit=1))


def scan_cut_tokens(data: bytes, effort: Effort) -> Iterator[Hit]:
    """Tokens that go on in the next line or in the next of two joined strings."""
    for start in find_cut_starts(data, effort):
        effort.spend(_PRICE_OF_CUT)
        pieces = _split_pieces(data[start : start + _CUT_REACH])
        whole = find_token_at(b"".join(piece for _, piece in pieces), 0)
        if whole is None or whole.end <= len(pieces[0][1]):
            continue
        end = _locate(pieces, whole.end)
        core = _locate(pieces, whole.core + 1) - 1
        yield Hit(start, start + end, whole.kind, start + core)


def _split_pieces(data: bytes) -> list[tuple[int, bytes]]:
    """The text between the joints, each piece with its place."""
    pieces: list[tuple[int, bytes]] = []
    position = 0
    for joint in islice(_JOINTS.finditer(data), _CUT_PIECES):
        pieces.append((position, data[position : joint.start]))
        position = joint.end
    pieces.append((position, data[position:]))
    return pieces


def _locate(pieces: list[tuple[int, bytes]], length: int) -> int:
    """Where the first so many characters of all pieces end."""
    end = 0
    for start, piece in pieces:
        end = start + min(length, len(piece))
        length -= len(piece)
        if length <= 0:
            break
    return end


def may_hold_base64(data: bytes) -> bool:
    return len(data) >= _LEAST_BASE64 and _BASE64.search(data) is not None


def find_base64_texts(data: bytes, effort: Effort) -> list[tuple[Span, str]]:
    """Every run that is the base64 of plain ASCII, and that ASCII."""
    found = []
    for place in _BASE64.finditer(data):
        effort.spend(_PRICE_OF_RUN)
        raw = data[place.start : place.end].translate(_URLSAFE, b"\r\n")
        raw = raw.rstrip(b"=")
        raw = raw[: len(raw) - (len(raw) % 4 == 1)]
        plain = binascii.a2b_base64(raw + b"=" * (-len(raw) % 4))
        found.append((place, plain.decode("ascii", "replace")))
    return found
