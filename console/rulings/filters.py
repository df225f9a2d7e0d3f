"""Filters of the rulings as they stand in the address of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.http import QueryDict

from console.format import format_elapsed
from guidance.core.checks import SEVERITIES
from ledger.chain import format_timestamp
from reviews.models import Kind
from reviews.past_rulings.filters import SORTS, RulingSearch
from safetext import make_visible_line

# By its name in the address: what people call it, and how long it is.
PERIODS: Mapping[str, tuple[str, timedelta | None]] = {
    "24h": ("24 h", timedelta(hours=24)),
    "7d": ("7 d", timedelta(days=7)),
    "30d": ("30 d", timedelta(days=30)),
    "90d": ("90 d", timedelta(days=90)),
    "month": ("Month", None),
    "all": ("All", None),
}
USUAL_PERIOD = "30d"
ACTIONS = {
    "approve": "approved",
    "amend": "changed",
    "deny": "denied",
    "abort": "aborted",
    "answer": "answered",
    "retry": "sent back",
    "skip": "skipped",
}
KINDS = {kind.value: kind.value.replace("_", " ") for kind in Kind}
# Filters by name, in the order of their pills, with what people call them.
LABELS = {
    "by": "Person",
    "action": "Ruling",
    "rule": "Rule",
    "agent": "Agent",
    "severity": "Severity",
    "kind": "Kind",
    "outcome": "What came of it",
    "label": "Label",
    "alike": "Alike",
}
# In the order of harm.
OUTCOME_WORDS = {
    "call-failed": "call failed",
    "run-failed": "run failed",
    "not-accepted": "not accepted",
    "aborted": "aborted later",
    "running": "not over yet",
    "good": "ended well",
}
_KNOWN: dict[str, Iterable[str]] = {
    "action": ACTIONS,
    "kind": KINDS,
    "severity": SEVERITIES,
    "outcome": OUTCOME_WORDS,
}
_TEXT_LIMIT = 200
_VALUES_LIMIT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFilters:
    """What the address asks for; anything in it that we do not know is left out."""

    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    period: str = USUAL_PERIOD
    faster_than_ms: int | None = None
    regretted: bool = False
    text: str = ""
    sort: str = "newest"

    @property
    def narrows(self) -> bool:
        """Whether something is asked for beside the period and the order."""
        plain = not self.chosen and not self.regretted and not self.text
        return not plain or self.faster_than_ms is not None

    def build_pairs(self) -> list[tuple[str, str]]:
        """As they stand in the address; what is usual is left out."""
        pairs = [
            (name, value) for name in LABELS for value in self.chosen.get(name, ())
        ]
        if self.faster_than_ms is not None:
            pairs.append(("faster_than_ms", str(self.faster_than_ms)))
        if self.regretted:
            pairs.append(("regretted", "true"))
        if self.text:
            pairs.append(("q", self.text))
        if self.period != USUAL_PERIOD:
            pairs.append(("period", self.period))
        if self.sort != "newest":
            pairs.append(("sort", self.sort))
        return pairs

    def build_query(self, **more: str) -> str:
        return f"?{urlencode([*self.build_pairs(), *more.items()])}"

    def build_search(self, *, project_id: int, at: datetime) -> RulingSearch:
        label = self.chosen.get("label", ())
        name, _, value = label[0].partition(":") if label else ("", "", "")
        return RulingSearch(
            project_id=project_id,
            by=self.chosen.get("by", ()),
            actions=self.chosen.get("action", ()),
            kinds=self.chosen.get("kind", ()),
            severities=self.chosen.get("severity", ()),
            agents=self.chosen.get("agent", ()),
            rules=self.chosen.get("rule", ()),
            alike_keys=self.chosen.get("alike", ()),
            label=(name, value) if name else None,
            since=find_since(self.period, at),
            faster_than_ms=self.faster_than_ms,
            regretted=self.regretted or None,
            outcomes=self.chosen.get("outcome", ()),
            text=self.text,
        )

    def build_export_query(self, *, slug: str, at: datetime) -> str:
        """The same for the API, which takes moments in place of periods."""
        pairs = [pair for pair in self.build_pairs() if pair[0] != "period"]
        since = find_since(self.period, at)
        if since is not None:
            pairs.append(("since", format_timestamp(since)))
        return urlencode([("project", slug), *pairs])


@dataclass(frozen=True, slots=True, kw_only=True)
class Pill:
    """A filter that is on: `without` is the address of the list without it."""

    name: str
    value: str
    without: str


def read_filters(given: QueryDict) -> PageFilters:
    chosen = {name: _read_values(given, name) for name in LABELS}
    period, sort = given.get("period", ""), given.get("sort", "")
    return PageFilters(
        chosen={name: values for name, values in chosen.items() if values},
        period=period if period in PERIODS else USUAL_PERIOD,
        faster_than_ms=_read_number(given.get("faster_than_ms", "")),
        regretted=given.get("regretted") == "true",
        text=_clean(given.get("q", "")),
        sort=sort if sort in SORTS else "newest",
    )


def find_since(period: str, at: datetime) -> datetime | None:
    """When a period began; a month is the calendar's, in UTC."""
    if period == "month":
        start = at.astimezone(UTC)
        return start.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    length = PERIODS[period][1]
    return None if length is None else at - length


def change(filters: PageFilters, **parts: object) -> PageFilters:
    values = {
        "chosen": filters.chosen,
        "period": filters.period,
        "faster_than_ms": filters.faster_than_ms,
        "regretted": filters.regretted,
        "text": filters.text,
        "sort": filters.sort,
    }
    return PageFilters(**{**values, **parts})  # type: ignore[arg-type]


def choose(filters: PageFilters, name: str, value: str) -> PageFilters:
    """The same with this value of a filter, in place of any other."""
    return change(filters, chosen={**filters.chosen, name: (value,)})


def list_pills(filters: PageFilters) -> list[Pill]:
    pills = [
        Pill(
            name=LABELS[name],
            value=describe_value(name, value),
            without=_drop(filters, name, value).build_query(),
        )
        for name in LABELS
        for value in filters.chosen.get(name, ())
    ]
    if filters.faster_than_ms is not None:
        without = change(filters, faster_than_ms=None).build_query()
        words = f"under {format_elapsed(filters.faster_than_ms).replace('.0 ', ' ')}"
        pills.append(Pill(name="Read", value=words, without=without))
    if filters.regretted:
        without = change(filters, regretted=False).build_query()
        pills.append(Pill(name="Regretted", value="yes", without=without))
    if filters.text:
        without = change(filters, text="").build_query()
        text = make_visible_line(filters.text)
        pills.append(Pill(name="Text", value=text, without=without))
    return pills


def describe_value(name: str, value: str) -> str:
    words = {"action": ACTIONS, "kind": KINDS, "outcome": OUTCOME_WORDS}.get(name, {})
    return words.get(value) or make_visible_line(value)


def _drop(filters: PageFilters, name: str, value: str) -> PageFilters:
    left = tuple(each for each in filters.chosen[name] if each != value)
    rest = {key: values for key, values in filters.chosen.items() if key != name}
    return change(filters, chosen={**rest, name: left} if left else rest)


def _read_values(given: QueryDict, name: str) -> tuple[str, ...]:
    values = dict.fromkeys(map(_clean, given.getlist(name)[:_VALUES_LIMIT]))
    known = _KNOWN.get(name)
    if name == "label":
        return tuple(each for each in values if ":" in each[1:])[:1]
    return tuple(each for each in values if each and (known is None or each in known))


def _read_number(text: str) -> int | None:
    known = text.isascii() and text.isdigit() and len(text) < 12
    return (int(text) or None) if known else None


def _clean(text: str) -> str:
    return text.replace("\x00", "").strip()[:_TEXT_LIMIT]
