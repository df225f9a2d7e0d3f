"""What a whole policy does, in sentences: "Pauses when more than 30 % of …".

Every setting of the published schema is in one of them. A setting that no sentence names
gets one of its own, so that a new one is never missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from guidance.core.policy.meaning import format_value
from guidance.core.policy.policy import WORDS, Policy, load_policy
from guidance.core.policy.schema import POLICY_SCHEMA
from guidance.core.policy.sentence_texts import SENTENCES

_SLOT = re.compile(r"\{([^{}]+)\}")
_UNLIMITED = {"ms": "any time", "USD": "any cost", "tokens": "any tokens"}
_LONGEST = 80
# Of a longer one the page may break the line.
_LINE = 30
# Gates are shown with all they ask for, and not in a sentence.
_APART = ("gates",)
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A setting inside a sentence. `before` is what it was, if that is another value;
    `entries` are those of a list that is only counted in the text."""

    path: str
    text: str
    default: str
    differs: bool
    entries: tuple[str, ...] = ()
    before: str | None = None

    @property
    def about(self) -> str:
        """Where it stands, what its default is, and what a list holds."""
        said = f"{self.path}, default {self.default}"
        return f"{said}: {', '.join(self.entries)}" if self.entries else said

    @property
    def long(self) -> bool:
        return len(self.text) > _LINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    parts: tuple[str | Value, ...]

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(part for part in self.parts if isinstance(part, Value))

    @property
    def changed(self) -> bool:
        return any(value.before is not None for value in self.values)

    def __str__(self) -> str:
        return "".join(
            part if isinstance(part, str) else part.text for part in self.parts
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    title: str
    sentences: tuple[Sentence, ...]


def describe_policy(
    document: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> tuple[Subject, ...]:
    """All that a valid document says, subject by subject, marked where it is not as
    `before` says."""
    policy = load_policy(document)
    return tuple(
        Subject(
            title=title,
            sentences=tuple(
                _build_sentence(text, document, before, policy) for text in texts
            ),
        )
        for title, texts in _SUBJECTS.items()
    )


def count_own_settings(document: Mapping[str, Any]) -> int:
    """How many settings of a policy are not as built in."""
    return sum(
        value.differs
        for subject in describe_policy(document)
        for sentence in subject.sentences
        for value in sentence.values
    )


def _build_sentence(
    text: str,
    document: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    policy: Policy,
) -> Sentence:
    parts: list[str | Value] = []
    for number, piece in enumerate(_SLOT.split(text)):
        if number % 2:
            parts.append(_build_value(piece, document, before, policy))
        elif piece:
            parts.append(piece)
    return Sentence(parts=tuple(parts))


def _build_value(
    slot: str,
    document: Mapping[str, Any],
    before: Mapping[str, Any] | None,
    policy: Policy,
) -> Value:
    path, *words = slot.split("|")
    setting = SETTINGS[path]
    default = _read_default(document, setting)
    value = _read(document, path, default)
    old = (
        value if before is None else _read(before, path, _read_default(before, setting))
    )
    return Value(
        path=path,
        text=_format(value, setting, words, path),
        default=_format(default, setting, words, path),
        differs=_is_own(path, value, default, policy),
        entries=_list_entries(value),
        before=None
        if _dump(old) == _dump(value)
        else _format(old, setting, words, path),
    )


def _list_entries(value: Any) -> tuple[str, ...]:
    if isinstance(value, Mapping):
        return tuple(value)
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return tuple(value) if texts else ()


def _is_own(path: str, value: Any, default: Any, policy: Policy) -> bool:
    """What the schema has no default for is built in by the code that reads it."""
    if SETTINGS[path].keys() & {"default", "x-default-from"}:
        return _dump(value) != _dump(default)
    return bool(_get_part(policy, path) != _get_part(_BARE, path))


def _get_part(policy: Policy, path: str) -> Any:
    return attrgetter(path)(policy)


def _read_default(document: Mapping[str, Any], setting: Mapping[str, Any]) -> Any:
    """What counts where the setting is left out, be it the value of another one."""
    other = setting.get("x-default-from")
    if other is None:
        return setting.get("default")
    return _read(document, other, SETTINGS[other].get("default"))


def _read(document: Mapping[str, Any], path: str, default: Any) -> Any:
    value: Any = document
    for key in path.split("."):
        value = value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT
    return default if value is _ABSENT else value


def _format(value: Any, setting: Mapping[str, Any], words: list[str], path: str) -> str:
    if words:
        return words[0] if value else words[1]
    unit = setting.get("x-unit", "")
    if value is None and "null" in setting.get("type", ()):
        return _UNLIMITED.get(
            unit, f"any number of {unit}" if unit else "any number of"
        )
    if value is None:
        return "as built in" if _get_part(_BARE, path) else "none"
    text = format_value(value, unit)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _list_settings(
    schema: Mapping[str, Any], above: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, setting in schema["properties"].items():
        path = f"{above}{name}"
        if path in _APART:
            continue
        if "properties" in setting:
            yield from _list_settings(setting, f"{path}.")
        else:
            yield path, setting


def _list_subjects() -> dict[str, tuple[str, ...]]:
    said = {
        slot.partition("|")[0]
        for texts in SENTENCES.values()
        for text in texts
        for slot in _SLOT.findall(text)
    }
    subjects = dict(SENTENCES)
    for path in SETTINGS:
        if path not in said:
            title = WORDS[path.partition(".")[0]].label
            own = (f"{WORDS[path].label}: {{{path}}}.",)
            subjects[title] = subjects.get(title, ()) + own
    return subjects


SETTINGS: Mapping[str, Mapping[str, Any]] = dict(_list_settings(POLICY_SCHEMA))
_SUBJECTS = _list_subjects()
_BARE = Policy()
