"""Rewrite a value so that nothing of its secrets is left in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from guidance.core.effort import TooMuchError
from guidance.core.secrets.hits import UNTOLD, Hit
from guidance.core.secrets.inspection import Inspection
from guidance.core.secrets.labels import (
    BARE,
    WINDOW,
    build_label,
    compute_fingerprint,
    list_windows,
)
from guidance.core.secrets.pieces import Pieces
from guidance.core.secrets.walk import BINARY, NUMBERS, OBJECT, Path
from guidance.core.secrets.words import is_ordinary_word

# Of longer names in a path the end is left out: it says where to look, and any name
# may come from outside.
NAME_LIMIT = 200


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

    def __init__(self, found: Inspection, *, key: bytes | None) -> None:
        self._found = found
        self._key = key
        self._hits = {
            (leaf.place.path, leaf.place.in_key): leaf.hits for leaf in found.leaves
        }
        self._names: dict[Path, str] = {}
        self._labels: dict[tuple[str, int, str], str] = {}
        secrets: list[str] = []
        if not found.whole:
            secrets = [
                secret
                for leaf in found.leaves
                for hit in leaf.hits
                # A word may mean something else elsewhere, such as an image's name.
                if not is_ordinary_word(secret := hit.get_secret(leaf.place.text))
            ]
        self._pieces = Pieces(secrets)
        # Only then can a label and its neighbours spell a piece of a secret.
        marks = set(BARE)
        self._odd = any(not marks.isdisjoint(secret) for secret in secrets)

    def list_findings(self) -> tuple[SecretFinding, ...]:
        return tuple(
            SecretFinding(
                kind=hit.kind,
                path=self._pointer(leaf.place.path),
                span=(hit.start, hit.end),
                redacted=self._label(leaf.place.text, hit),
                length=hit.end - hit.start,
                in_key=leaf.place.in_key,
            )
            for leaf in self._found.leaves
            for hit in leaf.hits
            if hit.kind != UNTOLD
        )

    def rebuild(self, value: object, path: Path = ()) -> object:
        if isinstance(value, str):
            return self._clean(value, (path, False))
        if isinstance(value, OBJECT):
            return self._mapping(value, path)
        if isinstance(value, NUMBERS) and not isinstance(value, bool):
            text = repr(value)
            cleaned = self._clean(text, (path, False))
            return value if cleaned == text else cleaned
        if isinstance(value, Sequence) and not isinstance(value, BINARY):
            parts = enumerate(value)
            return [self.rebuild(part, (*path, place)) for place, part in parts]
        return value

    def _mapping(self, value: Mapping[object, object], path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        alike: dict[str, int] = {}
        for key, part in value.items():
            below = (*path, str(key))
            name = shown = self._name(below)
            # Two hidden keys may look alike; neither may push the other out.
            while name in result:
                alike[shown] = alike.get(shown, 0) + 1
                name = f"{shown}'{alike[shown]}"
            result[name] = self.rebuild(part, below)
        return result

    def _name(self, path: Path) -> str:
        """The last name of the path as it may be shown."""
        if path not in self._names:
            name = str(path[-1])
            if isinstance(path[-1], str) and path not in self._found.own:
                name = self._clean(name, (path, True))
            self._names[path] = name
        return self._names[path]

    def _pointer(self, path: Path) -> str:
        parts = (
            self._name(path[: place + 1])[:NAME_LIMIT] for place in range(len(path))
        )
        escaped = (part.replace("~", "~0").replace("/", "~1") for part in parts)
        return "".join("/" + part for part in escaped)

    def _label(self, text: str, hit: Hit) -> str:
        if hit.kind == UNTOLD or self._found.whole:
            return BARE
        secret = text[hit.start : hit.end]
        same = (hit.kind, hit.core - hit.start, secret)
        if same not in self._labels:
            self._labels[same] = self._new_label(text, hit, secret)
        return self._labels[same]

    def _new_label(self, text: str, hit: Hit, secret: str) -> str:
        mark = "" if self._key is None else compute_fingerprint(secret, key=self._key)
        # Of the rest of the secret all windows are known already.
        own = list_windows(text[hit.start : hit.core + WINDOW - 1])

        def tells(form: str) -> bool:
            return not own.isdisjoint(list_windows(form)) or self._pieces.are_in(form)

        return build_label(hit.kind, length=len(secret), mark=mark, tells=tells)

    def _clean(self, text: str, where: tuple[Path, bool]) -> str:
        if self._found.whole:
            return BARE if text else text
        try:
            cleaned = self._replace(text, self._hits.get(where, ()))
            told = self._odd and self._pieces.find_spans(cleaned)
        except TooMuchError:
            return BARE
        return BARE if told else cleaned

    def _replace(self, text: str, hits: Sequence[Hit]) -> str:
        pieces = []
        position = 0
        for hit in hits:
            pieces.append(self._wipe(text[position : hit.start]))
            pieces.append(self._label(text, hit))
            position = hit.end
        pieces.append(self._wipe(text[position:]))
        return "".join(pieces)

    def _wipe(self, text: str) -> str:
        """Without any piece of a secret that stands in it unnoticed."""
        pieces: list[str] = []
        position = 0
        for start, end in self._pieces.find_spans(text):
            pieces += text[position:start], BARE
            position = end
        return "".join(pieces) + text[position:]
