"""Rewriting a value so that nothing of its secrets is left in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guidance.core.secrets.hits import Hit
from guidance.core.secrets.inspection import Leaf
from guidance.core.secrets.labels import BARE, WINDOW, fingerprint, label, windows
from guidance.core.secrets.walk import Path

# A secret of one or two characters is hidden where it stands, but not wherever those
# characters stand.
_LEAST_REPEATED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretFinding:
    """One secret and where it stands; nothing of it is in here.

    `path` points into the value as RFC 6901 does, with hidden keys already replaced;
    `span` is in the text there, or in the key itself where `in_key` is true.
    """

    kind: str
    path: str
    span: tuple[int, int]
    redacted: str
    length: int
    in_key: bool = False


class Eraser:
    """Knows the secrets of one value and rewrites its texts without them."""

    def __init__(self, found: Sequence[Leaf], *, key: bytes | None) -> None:
        self._found = found
        self._key = key
        self._hits = {(leaf.place.path, leaf.place.in_key): leaf.hits for leaf in found}
        self._windows: set[str] = set()
        self._short: set[str] = set()
        for leaf in found:
            for hit in leaf.hits:
                self._learn(hit.secret_in(leaf.place.text))
        # Only then can a label and its neighbours spell a piece of a secret.
        self._odd = any(not set(BARE).isdisjoint(window) for window in self._windows)

    def _learn(self, secret: str) -> None:
        if len(secret) >= WINDOW:
            self._windows |= windows(secret)
        elif len(secret) >= _LEAST_REPEATED:
            self._short.add(secret)

    def findings(self) -> tuple[SecretFinding, ...]:
        return tuple(
            SecretFinding(
                kind=hit.kind,
                path=self._pointer(leaf.place.path),
                span=(hit.start, hit.end),
                redacted=self._label(leaf.place.text, hit),
                length=hit.end - hit.start,
                in_key=leaf.place.in_key,
            )
            for leaf in self._found
            for hit in leaf.hits
        )

    def rebuilt(self, value: object, path: Path = ()) -> object:
        if isinstance(value, str):
            return self._cleaned(value, (path, False))
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = repr(value)
            cleaned = self._cleaned(text, (path, False))
            return value if cleaned == text else cleaned
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            parts = enumerate(value)
            return [self.rebuilt(part, (*path, place)) for place, part in parts]
        return value

    def _mapping(self, value: Mapping[object, object], path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, part in value.items():
            below = (*path, str(key))
            name = self._cleaned(str(key), (below, True))
            # Two hidden keys may look alike; neither may push the other out.
            while name in result:
                name += "'"
            result[name] = self.rebuilt(part, below)
        return result

    def _pointer(self, path: Path) -> str:
        parts = (
            self._cleaned(part, (path[: place + 1], True))
            if isinstance(part, str)
            else str(part)
            for place, part in enumerate(path)
        )
        escaped = (part.replace("~", "~0").replace("/", "~1") for part in parts)
        return "".join("/" + part for part in escaped)

    def _label(self, text: str, hit: Hit) -> str:
        secret = text[hit.start : hit.end]
        mark = "" if self._key is None else fingerprint(secret, key=self._key)
        # Of the rest of the secret all windows are known already.
        own = windows(text[hit.start : hit.core + WINDOW - 1])

        def tells(form: str) -> bool:
            repeated = windows(form)
            return bool(repeated & own or repeated & self._windows) or any(
                short in form for short in self._short
            )

        return label(hit.kind, length=len(secret), mark=mark, tells=tells)

    def _cleaned(self, text: str, where: tuple[Path, bool]) -> str:
        pieces = []
        position = 0
        for hit in self._hits.get(where, ()):
            pieces.append(self._wiped(text[position : hit.start]))
            pieces.append(self._label(text, hit))
            position = hit.end
        pieces.append(self._wiped(text[position:]))
        cleaned = "".join(pieces)
        if self._odd and not self._windows.isdisjoint(windows(cleaned)):
            return BARE
        return cleaned

    def _wiped(self, text: str) -> str:
        """Without any window of a secret that stands in it unnoticed."""
        known = self._windows
        spans: list[list[int]] = []
        for at in range(len(text) - WINDOW + 1):
            if text[at : at + WINDOW] in known:
                if spans and at <= spans[-1][1]:
                    spans[-1][1] = at + WINDOW
                else:
                    spans.append([at, at + WINDOW])
        pieces: list[str] = []
        position = 0
        for start, end in spans:
            pieces += text[position:start], BARE
            position = end
        text = "".join(pieces) + text[position:]
        for short in self._short:
            text = text.replace(short, BARE)
        return text
