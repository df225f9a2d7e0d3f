"""The result of a backtest as its page shows it: the sentence first, then the figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from console.format import format_count, format_elapsed
from console.policies.backtest.items import format_decision
from console.policies.backtest.lists import ANY, ShownItems, build_items
from console.policies.backtest.words import (
    Part,
    build_agreement,
    build_sentence,
    build_unknown,
)
from guidance.core.vocabulary import CALL_DECISIONS, STEP_DECISIONS
from guidance.models import PolicyVersion
from reviews.models import Backtest, JobState
from reviews.policies.backtest.selection import select_history
from reviews.policies.backtest.selectors import list_moves_by_rule, read_result
from safetext import make_visible_line

# So many gates and rules have a bar; the others change less.
BARS = 8
# So many versions are named one by one.
_NAMED = 4
_KINDS = {"step": "Steps", "call": "Calls", "check": "Gate checks", "turn": "Turns"}
# Of one kind, the mildest first, as a table of moves has them.
_ORDER = {
    "step": tuple(reversed(STEP_DECISIONS)),
    "call": tuple(reversed(CALL_DECISIONS)),
}


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
    """Shares are of the longest bar, in per cent of half the width; `moves` says what
    becomes of what."""

    name: str
    moves: str
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
    over: str
    versions: str
    unknown: tuple[Part, ...]
    sentence: tuple[Part, ...]
    agreement: tuple[Part, ...]
    figures: tuple[tuple[str, str, str, str, str], ...]
    matrices: tuple[Matrix, ...]
    bars: tuple[GateBar, ...]
    more_bars: int
    changed: int
    shown: ShownItems

    @property
    def source(self) -> str:
        """What the editor begins with to go on with it."""
        return urlencode(
            {"version": self.version} if self.version else {"backtest": self.code}
        )


def build_backtest_page(
    backtest: Backtest,
    *,
    slug: str,
    chosen: Mapping[str, str],
    number: int,
    at: datetime,
) -> BacktestPage:
    """`chosen` are the filters of its list, `number` the page of it."""
    result = read_result(backtest)
    here = reverse("console:backtest", args=[slug, backtest.code])

    def link(**filters: str) -> str:
        return f"{here}?{urlencode(filters)}#items" if filters else f"{here}#items"

    ended = backtest.state not in (JobState.WAITING, JobState.RUNNING)
    begun = backtest.started_at or backtest.created_at
    took = ((backtest.ended_at or at) - begun).total_seconds()
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
        over=_describe_history(backtest),
        versions=_describe_versions(backtest) if ended else "",
        unknown=build_unknown(result, link),
        sentence=build_sentence(result, link, ended=ended),
        agreement=build_agreement(result, link),
        figures=_build_figures(result, link),
        matrices=build_matrices(result, link),
        bars=build_bars(result, link, backtest.items.all()),
        more_bars=max(len(result["by_rule"]) - BARS, 0),
        changed=result["changed"],
        shown=build_items(
            backtest, result, link, slug=slug, chosen=chosen, number=number
        ),
    )


def _describe_history(backtest: Backtest) -> str:
    """Which decisions it judges."""
    if backtest.run is not None:
        return f"run {str(backtest.run.code)[-6:]}"
    who = make_visible_line(backtest.agent.name) if backtest.agent else "all agents"
    return f"{who}, all policies" if backtest.all_runs else who


def _describe_versions(backtest: Backtest) -> str:
    """By which versions of the policy was decided what it is held against; a manager who
    changes one limit may else wonder what the others of its moves come from."""
    runs = select_history(backtest).filter(policy=OuterRef("pk"))
    versions = PolicyVersion.objects.filter(
        Exists(runs), project_id=backtest.project_id, name=backtest.policy
    )
    found = versions.order_by("version").values_list("version", flat=True)
    numbers = [str(number) for number in found]
    if len(numbers) < 2:
        return ""
    if len(numbers) > _NAMED:
        return f"{len(numbers)} versions, {numbers[0]} to {numbers[-1]}"
    return f"versions {', '.join(numbers[:-1])} and {numbers[-1]}"


def _get_share(backtest: Backtest) -> float:
    return min(100.0, 100 * backtest.done / backtest.total) if backtest.total else 0.0


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
        else "nobody ruled on what changes"
    )
    minus = "\N{MINUS SIGN}"
    return (
        (
            "Judged again",
            f"{judged:,}",
            "",
            "steps, calls, checks and turns",
            link(judged=ANY),
        ),
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
            f"{people['agree']:,} of {ruled:,}" if ruled else "–",
            "",
            agrees,
            link(people="agree"),
        ),
    )


def build_matrices(result: Mapping[str, Any], link: Any) -> tuple[Matrix, ...]:
    """Only with what was decided, and what the draft decides."""
    matrices = []
    for kind in sorted(result["decisions"], key=[*_KINDS].index):
        moves = result["decisions"][kind]
        counts = {tuple(move.split("→")): n for move, n in moves.items()}
        order = _ORDER.get(kind) or tuple(
            dict.fromkeys(w for pair in counts for w in pair)
        )
        decided, columns = (
            [word for word in order if any(pair[side] == word for pair in counts)]
            for side in (0, 1)
        )
        rows = []
        for before in decided:
            cells = []
            for after in columns:
                count = counts.get((before, after), 0)
                tone = (
                    "same" if before == after else _compare(kind, order, before, after)
                )
                cells.append(
                    Cell(
                        count=f"{count:,}" if count else "",
                        tone=tone if count else "z",
                        address=link(kind=kind, move=f"{before}→{after}")
                        if count
                        else "",
                    )
                )
            rows.append((format_decision(before), tuple(cells)))
        matrices.append(
            Matrix(
                title=_KINDS.get(kind, kind),
                words=tuple(map(format_decision, columns)),
                rows=tuple(rows),
            )
        )
    return tuple(matrices)


def _compare(kind: str, order: tuple[str, ...], before: str, after: str) -> str:
    if kind not in _ORDER:
        return "other"
    return "harder" if order.index(after) > order.index(before) else "softer"


def build_bars(
    result: Mapping[str, Any], link: Any, items: QuerySet[Any]
) -> tuple[GateBar, ...]:
    rules: Iterable[Mapping[str, Any]] = result["by_rule"][:BARS]
    longest = max((max(each["softer"], each["stricter"]) for each in rules), default=1)
    moves = list_moves_by_rule(items)
    return tuple(
        GateBar(
            name=make_visible_line(each["rule"] or each["gate"]),
            moves=_describe_moves(moves.get((each["gate"], each["rule"] or ""), [])),
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


def _describe_moves(moves: Sequence[str]) -> str:
    """The most frequent of them, and whether there are others."""
    if not moves:
        return ""
    before, after = map(format_decision, moves[0].split("→"))
    return f"{before} → {after}" + (", and others" if len(moves) > 1 else "")
