"""A span as both encodings of OTLP tell it: the few parts that matter to us."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from common.errors import TooLarge

# Attributes that are looked at; the others are not even kept.
_KEPT = ("gen_ai.", "checkrail.", "error.type", "service.name")
# Spans, and the groups that they come in.
PARTS_MAX = 20_000
# More than programs may give a span by default; those behind them are not looked at.
ATTRIBUTES_MAX = 512
TEXT_MAX = 4_000

Value = str | int
Attributes = Mapping[str, Value]


class BadSpan(ValueError):
    """This one cannot be taken; the others of its request can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Ids in hex; no parent is an empty one. Times in nanoseconds since 1970."""

    trace_id: str
    span_id: str
    parent_id: str
    parent_is_remote: bool
    name: str
    started_ns: int
    ended_ns: int
    failed: bool
    attributes: Attributes
    resource: Attributes

    @property
    def operation(self) -> str:
        """What a model or an agent did; empty for a span of anything else."""
        return self.get_text("gen_ai.operation.name")

    @property
    def begins_here(self) -> bool:
        """Nothing of this program stands above it."""
        return not self.parent_id or self.parent_is_remote

    @property
    def error(self) -> str:
        return self.get_text("error.type") or ("error" if self.failed else "")

    @property
    def duration_ms(self) -> int:
        if not self.started_ns:
            return 0
        return max(0, self.ended_ns - self.started_ns) // 1_000_000

    def get_text(self, name: str) -> str:
        value = self.attributes.get(name, "")
        return value if isinstance(value, str) else ""

    def get_amount(self, name: str) -> int:
        value = self.attributes.get(name, 0)
        if not isinstance(value, int):
            raise BadSpan(f"{name} is not a whole number.")
        return value


@dataclass(slots=True)
class Reading:
    """The spans of one request, and why others of it were not taken."""

    spans: list[Span] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    parts: int = 0

    def count_part(self) -> None:
        """A few bytes make a part, so that their number needs an end of its own."""
        self.parts += 1
        if self.parts > PARTS_MAX:
            raise TooLarge(f"At most {PARTS_MAX:,} spans and groups are taken at once.")


def is_wanted(name: str) -> bool:
    return name.startswith(_KEPT)


def keep_values(pairs: Iterable[tuple[str, object]]) -> dict[str, Value]:
    """Texts and whole numbers by name; what is neither says nothing to us."""
    return {
        name: clean_text(value) if isinstance(value, str) else value
        for name, value in pairs
        if isinstance(value, str | int) and not isinstance(value, bool)
    }


def clean_text(text: str) -> str:
    """Without what no database holds: NUL, and halves of surrogate pairs."""
    text = text[:TEXT_MAX].replace("\0", "\ufffd")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def check_ids(*, trace_id: str, span_id: str, parent_id: str) -> tuple[str, str, str]:
    """As the protocol wants them: 16 and 8 bytes, not all zero."""
    for text, length, what in ((trace_id, 32, "trace"), (span_id, 16, "span")):
        if len(text) != length or not text.strip("0"):
            raise BadSpan(f"A {what} id is not {length // 2} bytes, or all zero.")
    if parent_id and len(parent_id) != 16:
        raise BadSpan("A parent's span id is not 8 bytes.")
    return trace_id, span_id, parent_id if parent_id.strip("0") else ""
