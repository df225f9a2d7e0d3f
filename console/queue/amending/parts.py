"""The fields in which a call is changed: one for each part of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from common.errors import Invalid
from console.queue.amending.texts import clean_typed
from safetext import ShownText, build_warnings, show_text

Typed = Mapping[str, str]


class PartsRefused(Invalid):
    """Fields that cannot be read yet; `labels` and `errors` name them."""

    def __init__(self, problems: Mapping[str, tuple[str, str]]) -> None:
        self.problems = problems
        super().__init__(
            "Not all of it can be read yet. Your text is kept.",
            errors=[
                {"loc": [name], "message": f"{label}: {message}"}
                for name, (label, message) in problems.items()
            ],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendPart:
    """`text` is what stands in the field at first, `title` what it belongs to, `old`
    what it is put in place of. `leave` names the box that leaves all of it out; `key` is
    the same before and after a change."""

    name: str
    label: str
    text: str
    key: object = None
    title: str = ""
    old: str | None = None
    leave: str = ""
    escaped: bool = False
    has_text: bool = True
    short: bool = False

    @property
    def about(self) -> ShownText | None:
        return None if self.old is None else show_text(self.old)

    @property
    def size(self) -> int:
        return len(self.text) + len(self.old or "")

    @property
    def warnings(self) -> tuple[str, ...]:
        """A look-alike letter looks in the field as it does everywhere."""
        return build_warnings(self.text)

    @property
    def full_label(self) -> str:
        return f"{self.title}: {self.label}" if self.title else self.label


class Editor(Protocol):
    """How calls of one form are taken apart, and put together as they were typed."""

    def list_parts(self, shown: Mapping[str, Any]) -> tuple[AmendPart, ...]:
        """None where there is nothing to change."""

    def parse(self, shown: Mapping[str, Any], typed: Typed) -> dict[str, Any]:
        """The parts of the call that change, as a ruling takes them."""


class PartReader:
    """Reads field by field, and keeps what is wrong with each."""

    def __init__(self, typed: Typed) -> None:
        self.typed = typed
        self.problems: dict[str, tuple[str, str]] = {}

    def read(
        self, part: AmendPart, parse: Callable[[str], Any], *, missing: Any = None
    ) -> Any:
        """What `parse` makes of the field; a field that is not sent stays as it was."""
        try:
            return parse(clean_typed(self.typed.get(part.name, part.text)))
        except Invalid as refusal:
            self.problems[part.name] = (part.title or part.label, refusal.detail)
            return missing

    def is_left_out(self, part: AmendPart) -> bool:
        return bool(part.leave and self.typed.get(part.leave))

    def refuse_problems(self) -> None:
        if self.problems:
            raise PartsRefused(self.problems)
