"""Settings of a policy, each declared once, as a field of the dataclass that holds it.

A field says what the setting is called and means, its default, its bounds, and what a lower
or a higher number does. Reader, schema, words, form and effects follow from that:

    max_rework_ratio: float = share(0.3, "Rework limit", "A larger share pauses.", lower="Pauses")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from guidance.core.document_reader import Section

_SETTING = "setting"
Part = TypeVar("Part")
Problem = Callable[[str], str | None]
# What was read before it in the same part, by field.
Known = Mapping[str, Any]
Read = Callable[[Section, str, Any, Known], Any]


@dataclass(frozen=True, slots=True)
class Words:
    """The label of one setting, what it says, and the unit of its value."""

    label: str
    text: str
    unit: str = ""
    # The path of another setting, whose value counts where this one is left out.
    default_from: str = ""

    def to_json(self) -> dict[str, Any]:
        """Annotate a JSON Schema with it; `x-unit` and `x-default-from` are ours."""
        own = {"x-unit": self.unit, "x-default-from": self.default_from}
        given = {name: text for name, text in own.items() if text}
        return {"title": self.label, "description": self.text, **given}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The declaration of a field. `lower` and `higher` say what a lower, or a higher, value
    leads to sooner. `inside` are the words of settings inside it that are no fields, or are
    called otherwise here."""

    words: Words
    read: Read
    # In the document, where it is not called as the field is.
    key: str = ""
    # Another setting of its part, which must not be less.
    at_most: str = ""
    # Another setting of its part: once that is not the default, 0 is the default of this.
    only_with: str = ""
    lower: str = ""
    higher: str = ""
    # The dataclass of a part.
    part: type[Any] | None = None
    # Under free names it holds parts with the settings of the part in which it stands.
    each_alike: bool = False
    inside: Mapping[str, Words] = field(default_factory=dict)


def declare(
    default: Any,
    label: str,
    text: str,
    *,
    read: Read,
    unit: str = "",
    default_from: str = "",
    **more: Any,
) -> Any:
    """A setting that is read in a way of its own. A default that may change is given as the
    function that makes it."""
    words = Words(label, text, unit, default_from)
    metadata = {_SETTING: Setting(words=words, read=read, **more)}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def whole(
    default: int, label: str, text: str, *, low: int, high: int, **more: Any
) -> Any:
    def read(section: Section, key: str, usual: int, _: Known) -> int:
        return section.read_integer(key, usual, low=low, high=high)

    return declare(default, label, text, read=read, **more)


def number(
    default: float, label: str, text: str, *, high: float, low: float = 0, **more: Any
) -> Any:
    def read(section: Section, key: str, usual: float, _: Known) -> float:
        return section.read_number(key, usual, low=low, high=high)

    return declare(default, label, text, read=read, **more)


def share(
    default: float, label: str, text: str, *, unit: str = "share", **more: Any
) -> Any:
    return number(default, label, text, high=1, unit=unit, **more)


def limit(default: int | None, label: str, text: str, *, high: int, **more: Any) -> Any:
    """A whole number of at least 1; null is no limit."""

    def read(section: Section, key: str, usual: int | None, _: Known) -> int | None:
        return section.read_limit(key, usual, high=high)

    return declare(default, label, text, read=read, **more)


def money(default: int | None, label: str, text: str, *, high: int, **more: Any) -> Any:
    """An amount in micros; null is no limit."""

    def read(section: Section, key: str, usual: int | None, _: Known) -> int | None:
        return section.read_money(key, usual, high=high)

    return declare(default, label, text, read=read, unit="USD", **more)


def flag(default: bool, label: str, text: str, **more: Any) -> Any:
    def read(section: Section, key: str, usual: bool, _: Known) -> bool:
        return section.read_flag(key, default=usual)

    return declare(default, label, text, read=read, **more)


def choice(
    default: str, label: str, text: str, *, among: tuple[str, ...], **more: Any
) -> Any:
    def read(section: Section, key: str, usual: str, _: Known) -> str:
        return section.read_choice(key, usual, among=among)

    return declare(default, label, text, read=read, **more)


def texts(
    default: tuple[str, ...],
    label: str,
    text: str,
    *,
    problem: Problem,
    pattern: str = "",
    **more: Any,
) -> Any:
    """A list of texts; `problem` says what is wrong with one."""

    def read(
        section: Section, key: str, usual: tuple[str, ...], _: Known
    ) -> tuple[str, ...]:
        return section.read_texts(key, usual, problem=problem, pattern=pattern)

    return declare(default, label, text, read=read, **more)


def words_among(
    default: tuple[str, ...],
    label: str,
    text: str,
    *,
    among: tuple[str, ...],
    fewest: int = 0,
    **more: Any,
) -> Any:
    """Several of these words."""

    def find_problem(word: str) -> str | None:
        return None if word in among else f"must be one of {', '.join(among)}"

    def read(
        section: Section, key: str, usual: tuple[str, ...], _: Known
    ) -> tuple[str, ...]:
        return section.read_texts(
            key, usual, problem=find_problem, among=among, fewest=fewest
        )

    return declare(default, label, text, read=read, **more)


def part(
    kind: type[Any], label: str, text: str, *, default: Any = None, **more: Any
) -> Any:
    """An object with settings of its own."""

    def read(section: Section, key: str, usual: Any, _: Known) -> Any:
        return read_settings(section.read_part(key), kind, usual)

    usual = kind if default is None else default
    return declare(usual, label, text, read=read, part=kind, **more)


def list_settings(kind: type[Any]) -> Iterator[tuple[str, str, Setting]]:
    """Each with its field and its key in the document."""
    for each in fields(kind):
        setting: Setting | None = each.metadata.get(_SETTING)
        if setting is not None:
            yield each.name, setting.key or each.name, setting


def read_settings(
    section: Section,
    kind: type[Part],
    default: Part | None = None,
    *,
    leave_out: str = "",
) -> Part:
    """The part that a section of a document describes; what it leaves out is as in
    `default`, or as built in. One setting may be left out: it is no key here."""
    usual = kind() if default is None else default
    known: dict[str, Any] = {}
    settings = [each for each in list_settings(kind) if each[1] != leave_out]
    for name, key, setting in settings:
        value = getattr(usual, name)
        other = setting.only_with
        if other and known[other] != getattr(usual, other):
            value = 0
        known[name] = setting.read(section, key, value, known)
    for name, key, setting in settings:
        other = setting.at_most
        if other and section.is_valid(key, other) and known[name] > known[other]:
            more = f"{known[name]} is more than {other}, which is {known[other]}"
            section.refuse(key, more)
    check = getattr(kind, "check_settings", None)
    if check is not None:
        check(section, known)
    section.close()
    return kind(**known)


def collect_words(kind: type[Any]) -> dict[str, Words]:
    """Collect the words of all settings by their paths; a star stands for a free name or a
    number."""
    settings = dict(walk_settings(kind))
    inside = {
        f"{path}.{name}": words
        for path, setting in settings.items()
        for name, words in setting.inside.items()
    }
    return {path: setting.words for path, setting in settings.items()} | inside


def walk_settings(kind: type[Any], above: str = "") -> Iterator[tuple[str, Setting]]:
    """Every setting with its path, those of parts included."""
    for _, key, setting in list_settings(kind):
        path = f"{above}{key}"
        yield path, setting
        if setting.part is not None:
            yield from walk_settings(setting.part, f"{path}.")
        if setting.each_alike:
            for _, inner, other in list_settings(kind):
                if other is not setting:
                    yield f"{path}.*.{inner}", other
