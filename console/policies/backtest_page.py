"""The result of a backtest as its page shows it: the sentence first, then the figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.urls import reverse

from console.format import format_count, format_elapsed
from console.policies.backtest_items import ItemRow, build_item, format_decision
from guidance.core.vocabulary import CALL_DECISIONS, STEP_DECISIONS
from reviews.models import Backtest, BacktestItem, JobState
from reviews.policies.backtest.people import DISAGREE
from reviews.policies.backtest.selectors import list_items, read_result
from safetext import make_visible_line

ITEMS = 50
FILTERS = ("kind", "gate", "rule", "move", "asks", "people")
_KINDS = {"step": "Steps", "call": "Calls", "check": "Gate checks", "turn": "Turns"}
# Of one kind, the mildest first, as a table of moves has them.
_ORDER = {
    "step": tuple(reversed(STEP_DECISIONS)),
    "call": tuple(reversed(CALL_DECISIONS)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A piece of the sentence; with an address it opens the list that it counts."""

    text: str
    address: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    count: str
    tone: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """Rows are what was decided, columns what the draft decides."""

    title: str
    words: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateBar:
    """Shares are of the longest bar, in per cent of half the width."""

    name: str
    softer: int
    stricter: int
    softer_share: float
    stricter_share: float
    address: str

    @property
    def softer_start(self) -> float:
        return 50 - self.softer_share


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestPage:
    code: str
    policy: str
    version: int | None
    state: str
    ended: bool
    reason: str
    share: float
    progress: str
    took: str
    unknown: str
    sentence: tuple[Part, ...]
    agreement: tuple[Part, ...]
    figures: tuple[tuple[str, str, str, str, str], ...]
    matrices: tuple[Matrix, ...]
    bars: tuple[GateBar, ...]
    changed: int
    tabs: tuple[tuple[str, str, bool], ...]
    rows: tuple[ItemRow, ...]
    shown: int
    more: int

    @property
    def source(self) -> str:
        """What the editor begins with to go on with it."""
        return urlencode(
            {"version": self.version} if self.version else {"backtest": self.code}
        )


def build_backtest_page(
    backtest: Backtest, *, slug: str, chosen: Mapping[str, str], at: datetime
) -> BacktestPage:
    result = read_result(backtest)
    here = reverse("console:backtest", args=[slug, backtest.code])

    def link(**filters: str) -> str:
        return f"{here}?{urlencode(filters)}#items" if filters else f"{here}#items"

    items = _list_ordered(backtest, chosen)
    total = items.count() if chosen else result["changed"]
    ended = backtest.state not in (JobState.WAITING, JobState.RUNNING)
    begun = backtest.started_at or backtest.created_at
    took = ((backtest.ended_at or at) - begun).total_seconds()
    page = items[:ITEMS]
    done = backtest.done if backtest.total else 0
    return BacktestPage(
        code=str(backtest.code),
        policy=backtest.policy,
        version=backtest.version,
        state=backtest.state,
        ended=ended,
        reason=backtest.reason,
        share=100.0 if backtest.state == JobState.FINISHED else _get_share(backtest),
        progress=f"{done:,} of {format_count(backtest.total, 'entry', 'entries')} read",
        took=format_elapsed(max(0, int(took * 1000))),
        unknown=_describe_unknown(result),
        sentence=_build_sentence(result, link, ended=ended),
        agreement=_build_agreement(result, link),
        figures=_build_figures(result, link),
        matrices=build_matrices(result, link),
        bars=build_bars(result, link),
        changed=result["changed"],
        tabs=_build_tabs(result, link, chosen),
        rows=tuple(build_item(item, slug) for item in page),
        shown=total,
        more=max(total - ITEMS, 0),
    )


def _get_share(backtest: Backtest) -> float:
    return min(100.0, 100 * backtest.done / backtest.total) if backtest.total else 0.0


def _list_ordered(
    backtest: Backtest, chosen: Mapping[str, str]
) -> QuerySet[BacktestItem]:
    """What people disagree with comes first."""
    first = Case(
        When(people=DISAGREE, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return list_items(backtest, **chosen).order_by(first, "-pk")


def _describe_unknown(result: Mapping[str, Any]) -> str:
    if not result["unknown"]:
        return ""
    reasons = ", ".join(result["unknown_reasons"])
    return f"{result['unknown']:,} unknown: {reasons}"


def _build_sentence(
    result: Mapping[str, Any], link: Any, *, ended: bool
) -> tuple[Part, ...]:
    """What the draft does, in a line or two."""
    judged, changed = result["judged"], result["changed"]
    if not judged:
        return (
            Part(text="Nothing was decided in this time." if ended else "Reading …"),
        )
    if not changed:
        return (
            Part(text="Changes nothing: "),
            Part(text=format_count(judged, "decision")),
            Part(text=" so far" if not ended else ""),
            Part(text=" come out the same."),
        )
    more, less = result["would_have_asked"], result["would_not_have_asked"]
    people = result["agrees_with_people"]
    parts: list[Part] = []
    if more:
        parts += [
            Part(text="Asks people "),
            Part(text=format_count(more, "time"), address=link(asks="more")),
            Part(text=" more, "),
            Part(text=f"{people['asked_more']['run_aborted']:,}"),
            Part(text=" of them in runs later aborted. "),
        ]
    if less:
        approved = people["asked_less"].get("approve", 0)
        parts += [
            Part(text="Asks "),
            Part(text=format_count(less, "time"), address=link(asks="less")),
            Part(text=" less, and people had approved "),
            Part(text=f"{approved:,}"),
            Part(text=" of those. "),
        ]
    if not more and not less:
        parts += [
            Part(text=format_count(changed, "decision"), address=link()),
            Part(text=" come out otherwise; people are asked as often as before."),
        ]
    return tuple(parts)


def _build_agreement(result: Mapping[str, Any], link: Any) -> tuple[Part, ...]:
    people = result["agrees_with_people"]
    if not result["changed"]:
        return ()
    return (
        Part(
            text=f"Of {format_count(result['changed'], 'decision')} that change, people’s rulings agree with "
        ),
        Part(text=f"{people['agree']:,}", address=link(people="agree")),
        Part(text=", disagree with "),
        Part(
            text=f"{people['disagree']:,}",
            address=link(people="disagree"),
            tone="stop" if people["disagree"] else "",
        ),
        Part(text=", and say nothing about "),
        Part(text=f"{people['silent']:,}", address=link(people="silent")),
        Part(text="."),
    )


def _build_figures(
    result: Mapping[str, Any], link: Any
) -> tuple[tuple[str, str, str, str, str], ...]:
    """Name, value, tone, what is beside it, and the list."""
    judged, changed = result["judged"], result["changed"]
    more, less = result["would_have_asked"], result["would_not_have_asked"]
    people = result["agrees_with_people"]
    ruled = people["agree"] + people["disagree"]
    share = f"{100 * changed / judged:.2g} %" if judged else "–"
    agrees = (
        f"{100 * people['agree'] // ruled} % where they ruled"
        if ruled
        else "nobody ruled"
    )
    minus = "\N{MINUS SIGN}"
    return (
        ("Judged again", f"{judged:,}", "", "steps, calls, checks and turns", ""),
        ("Come out differently", f"{changed:,}", "", share, link()),
        (
            *("People asked more", f"+{more:,}" if more else "0"),
            *("pause" if more else "", "new pauses and questions", link(asks="more")),
        ),
        (
            *("People asked less", f"{minus}{less:,}" if less else "0"),
            *("go" if less else "", "no longer asked", link(asks="less")),
        ),
        (
            "Agrees with people",
            f"{people['agree']:,} of {ruled:,}",
            "",
            agrees,
            link(people="agree"),
        ),
    )


def build_matrices(result: Mapping[str, Any], link: Any) -> tuple[Matrix, ...]:
    matrices = []
    for kind, moves in result["decisions"].items():
        counts = {tuple(move.split("→")): n for move, n in moves.items()}
        order = _ORDER.get(kind) or tuple(
            dict.fromkeys(w for pair in counts for w in pair)
        )
        used = [word for word in order if any(word in pair for pair in counts)]
        rows = []
        for before in used:
            cells = []
            for after in used:
                count = counts.get((before, after), 0)
                tone = (
                    "same" if before == after else _compare(kind, order, before, after)
                )
                cells.append(
                    Cell(
                        count=f"{count:,}" if count else "",
                        tone=tone if count else "z",
                        address=link(kind=kind, move=f"{before}→{after}")
                        if count and before != after
                        else "",
                    )
                )
            rows.append((format_decision(before), tuple(cells)))
        matrices.append(
            Matrix(
                title=_KINDS.get(kind, kind),
                words=tuple(map(format_decision, used)),
                rows=tuple(rows),
            )
        )
    return tuple(matrices)


def _compare(kind: str, order: tuple[str, ...], before: str, after: str) -> str:
    if kind not in _ORDER:
        return "other"
    return "harder" if order.index(after) > order.index(before) else "softer"


def build_bars(result: Mapping[str, Any], link: Any) -> tuple[GateBar, ...]:
    rules: Iterable[Mapping[str, Any]] = result["by_rule"][:8]
    longest = max((max(each["softer"], each["stricter"]) for each in rules), default=1)
    return tuple(
        GateBar(
            name=make_visible_line(each["rule"] or each["gate"]),
            softer=each["softer"],
            stricter=each["stricter"],
            softer_share=round(38 * each["softer"] / longest, 2),
            stricter_share=round(38 * each["stricter"] / longest, 2),
            address=link(rule=each["rule"])
            if each["rule"]
            else link(gate=each["gate"]),
        )
        for each in rules
    )


def _build_tabs(
    result: Mapping[str, Any], link: Any, chosen: Mapping[str, str]
) -> tuple[tuple[str, str, bool], ...]:
    people = result["agrees_with_people"]
    offered: tuple[tuple[str, dict[str, str]], ...] = (
        (f"All {result['changed']:,}", {}),
        (f"Disagree {people['disagree']:,}", {"people": "disagree"}),
        (f"Agree {people['agree']:,}", {"people": "agree"}),
        (f"Asked {result['would_have_asked']:,}", {"asks": "more"}),
        (f"Not asked {result['would_not_have_asked']:,}", {"asks": "less"}),
    )
    tabs = [(name, link(**query), dict(chosen) == query) for name, query in offered]
    if not any(current for _, _, current in tabs):
        tabs.append(
            (
                ", ".join(format_decision(v) for v in chosen.values()),
                link(**chosen),
                True,
            )
        )
    return tuple(tabs)
