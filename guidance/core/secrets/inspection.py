"""The secrets of a decoded value, text by text.

Short texts are first read as lines of one long text. That costs a fraction of reading
each of them, and says which few have to be read for themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from guidance.core.effort import Effort, TooMuchError
from guidance.core.regex import encode_one_byte
from guidance.core.secrets.hits import HIT_LIMIT, REST, UNTOLD, Hit, merge_hits
from guidance.core.secrets.limits import (
    LIMIT,
    PRICE_OF_EACH,
    PRICE_OF_NAME,
    PRICE_OF_TEXT,
)
from guidance.core.secrets.names import Promise, read_promise
from guidance.core.secrets.scan import LEAST, scan
from guidance.core.secrets.scanners.flags import may_hold_flags, scan_flags
from guidance.core.secrets.scanners.headers import find_credential
from guidance.core.secrets.surroundings import (
    Neighbours,
    Surroundings,
    is_harmless_under,
    is_test_path,
    read_neighbours,
)
from guidance.core.secrets.values import is_secret_value
from guidance.core.secrets.walk import OwnKeys, Path, Text, Texts

# From this length on a text is read for itself.
_LONG = 1_000
# More characters of secrets than this are not looked for in the rest of the value.
_MOST_HIDDEN = 8_192
_PRICE_OF_LIST = 10
_PRICE_OF_VALUE = 30
# Where an edit writes.
_PATH_NAMES = frozenset({"file_path", "path", "filename", "file", "filePath"})
# Stands for what would end a word, where words are read as one line.
_IN_WORD = str.maketrans(dict.fromkeys(" \t\r\n\v\f\"'", "\x1f"))


class Leaf(NamedTuple):
    """A text that holds secrets, and where."""

    place: Text
    hits: Sequence[Hit]


class Inspection(NamedTuple):
    """Only the texts that hold a secret, in the order of the value.

    `whole` says that there is more than can be told: nothing of the value may be shown.
    `own` are the paths of the caller's own keys.
    """

    leaves: Sequence[Leaf]
    own: set[Path]
    whole: bool = False


def inspect(
    value: object, *, own_keys: OwnKeys = frozenset(), limit: int = LIMIT
) -> Inspection:
    texts = Texts(value, own_keys=own_keys)
    reader = _Reader(texts, Effort(limit))
    try:
        reader.read()
        leaves = list(reader.read_leaves())
    except TooMuchError:
        return Inspection(_limit_hits(reader.list_read_leaves()), texts.own, whole=True)
    if not leaves:
        return Inspection((), texts.own)
    hidden = sum(hit.end - hit.start for leaf in leaves for hit in leaf.hits)
    return Inspection(_limit_hits(leaves), texts.own, whole=hidden > _MOST_HIDDEN)


class _Reader:
    def __init__(self, texts: Texts, effort: Effort) -> None:
        self._texts = texts
        self._effort = effort
        # What each text shows by itself; texts that stand twice are read once.
        self._shown: dict[str, Sequence[Hit]] = {}
        # What words show as parts of a command.
        self._worded: dict[Path, list[Hit]] = {}
        self._in_tests = any(
            place.name in _PATH_NAMES and is_test_path(place.text)
            for place in texts.every
        )
        self._pairs: dict[Path, list[tuple[str, str]]] = {}
        self._beside: dict[Path, Neighbours] = {}

    def read(self) -> None:
        self._effort.spend(len(self._texts.every) * PRICE_OF_EACH)
        short = []
        for text in dict.fromkeys(place.text for place in self._texts.every):
            if len(text) < _LONG:
                short.append(text)
            else:
                self._alone(text)
        self._together(short)
        self._lists()

    def read_leaves(self) -> Iterator[Leaf]:
        promises: dict[str, Promise | None] = {"": None}
        for place in self._texts.every:
            hits = self._shown.get(place.text, ())
            if place.path in self._worded and not place.in_key:
                hits = merge_hits([*hits, *self._worded[place.path]])
            for name in (place.name, place.paired):
                if name not in promises:
                    self._effort.spend(PRICE_OF_NAME)
                    promises[name] = read_promise(name)
            promised, paired = promises[place.name], promises[place.paired]
            if promised is None and paired is not None:
                # A list of names looks the same: only a random value is a secret.
                promised = paired._replace(strong=False)
            if promised is not None:
                self._effort.spend(_PRICE_OF_VALUE)
                hits = self._add_named_hit(place, hits, promised)
            if hits:
                yield Leaf(place, hits)

    def _add_named_hit(
        self, place: Text, hits: Sequence[Hit], promised: Promise
    ) -> Sequence[Hit]:
        """Together with what the name of the text says about the whole of it."""
        text = place.text
        whole: tuple[int, int] | None = None
        if promised.kind == "authorization":
            whole = find_credential(text, 0, len(text), expected=True)
        if place.is_number and not (promised.strong and text.isdigit()):
            return hits
        if whole is None and is_secret_value(text, promised):
            name, beside = place.name or place.paired, self._get_neighbours(place)
            if not is_harmless_under(text, name, beside, in_tests=self._in_tests):
                whole = (0, len(text))
        if whole is None:
            return hits
        return merge_hits([*hits, Hit(*whole, promised.kind, whole[0])])

    def _get_neighbours(self, place: Text) -> Neighbours:
        """What stands beside the text in its object; all are read at the first call."""
        if not self._pairs:
            for other in self._texts.every:
                if not other.in_key:
                    pairs = self._pairs.setdefault(other.path[:-1], [])
                    pairs.append((other.name, other.text))
        parent = place.path[:-1]
        if parent not in self._beside:
            self._effort.spend(_PRICE_OF_VALUE)
            self._beside[parent] = read_neighbours(self._pairs[parent])
        return self._beside[parent]

    def list_read_leaves(self) -> Sequence[Leaf]:
        """What was found until reading was given up, and the longest text as unread."""
        every = self._texts.every
        longest = max(every, key=lambda place: len(place.text))
        self._shown[longest.text] = (Hit(0, len(longest.text), REST, 0),)
        hits = ((place, self._shown.get(place.text, ())) for place in every)
        return [Leaf(place, found) for place, found in hits if found]

    def _alone(self, text: str) -> None:
        self._effort.spend(PRICE_OF_TEXT)
        self._shown[text] = scan(text, self._effort, in_tests=self._in_tests)

    def _together(self, lines: Sequence[str]) -> None:
        worth_it = [line for line in lines if len(line) >= LEAST]
        if len(worth_it) == 1:
            # A tool and its command: nothing is saved by reading it twice (bench: "a
            # whole call").
            self._alone(worth_it[0])
            return
        hits = scan("\n".join(lines), self._effort, strict=True)
        if not hits:
            return
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        suspects: set[int] = set()
        for hit in hits:
            first = bisect_right(starts, hit.start) - 1
            last = min(bisect_right(starts, hit.end - 1), len(lines)) - 1
            suspects.update(range(first, last + 1))
        for number in sorted(suspects):
            self._alone(lines[number])

    def _lists(self) -> None:
        """Passwords that a command is given word by word."""
        lists = self._texts.lists
        if not lists or not may_hold_flags(
            "\n".join(" ".join(words) for _, words in lists)
        ):
            return
        for path, words in lists:
            self._effort.spend(_PRICE_OF_LIST)
            if not may_hold_flags(" ".join(words)):
                continue
            self._effort.spend(PRICE_OF_TEXT)
            # Of a long word the beginning tells what it is.
            begun = [word[:_LONG].translate(_IN_WORD) for word in words]
            line = " ".join(begun)
            starts = list(accumulate((len(word) + 1 for word in begun), initial=0))
            data = encode_one_byte(line)
            around = Surroundings(line, data, self._effort, in_tests=self._in_tests)
            for hit in scan_flags(line, data, self._effort, around):
                number = bisect_right(starts, hit.start) - 1
                at = starts[number]
                end = hit.end - at
                if end >= len(begun[number]):
                    end = len(words[number])
                found = Hit(hit.start - at, end, hit.kind, hit.core - at)
                self._worded.setdefault((*path, number), []).append(found)


def _limit_hits(leaves: Sequence[Leaf]) -> Sequence[Leaf]:
    """HIT_LIMIT of all hits keep their kind; where there are more, the last one is REST."""
    many = sum(len(leaf.hits) for leaf in leaves)
    if many <= HIT_LIMIT:
        return leaves
    kinds = iter([None] * (HIT_LIMIT - 1) + [REST] + [UNTOLD] * (many - HIT_LIMIT))
    return [
        Leaf(
            leaf.place,
            [
                hit if (kind := next(kinds)) is None else hit._replace(kind=kind)
                for hit in leaf.hits
            ],
        )
        for leaf in leaves
    ]
