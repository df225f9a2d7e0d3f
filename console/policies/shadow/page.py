"""What a draft in shadow was seen to decide, as its page shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from console.format import (
    ShownMoment,
    build_future_moment,
    build_past_moment,
    format_count,
    format_iso,
    format_span,
)
from console.policies.backtest.items import (
    ICONS,
    Judged,
    build_both,
    build_judged,
    format_decision,
)
from console.policies.backtest.page import (
    BARS,
    GateBar,
    Matrix,
    build_bars,
    build_matrices,
)
from console.policies.backtest.words import Part
from console.policies.shadow.proposals import ProposalRow, list_proposal_rows
from console.runs.rows import format_short_code
from reviews.models import PolicyShadow, PolicyShadowItem
from reviews.policies.shadow.selectors import (
    count_items,
    is_running,
    list_items,
    read_payloads,
)
from safetext import make_visible_line

ITEMS = 50
FILTERS = ("outcome", "kind", "gate", "rule", "move", "asks", "after")
_ENDS = {"": "Ended", "stopped": "Stopped", "published": "Published"}
Link = Callable[..., str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowRow:
    """One decision; `after` is None where the draft could not judge, and `reason` why."""

    icon: str
    what: str
    agent: str
    step: int
    code: str
    run: str
    before: Judged
    after: Judged | None
    reason: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowPage:
    code: str
    policy: str
    version: int
    running: bool
    end: str
    note: str
    by: str
    started: ShownMoment
    left: ShownMoment | None
    share: float
    lasted: str
    sentence: tuple[Part, ...]
    figures: tuple[tuple[str, str, str, str, str], ...]
    matrices: tuple[Matrix, ...]
    bars: tuple[GateBar, ...]
    more_bars: int
    changed: int
    proposals: tuple[ProposalRow, ...]
    tabs: tuple[tuple[str, str, bool], ...]
    rows: tuple[ShadowRow, ...]
    shown: int
    more: int


def build_shadow_page(
    shadow: PolicyShadow, *, slug: str, chosen: Mapping[str, str], at: datetime
) -> ShadowPage:
    result = count_items(shadow)
    here = reverse("console:shadow", args=[slug, shadow.code])

    def link(**filters: str) -> str:
        return f"{here}?{urlencode(filters)}#items" if filters else f"{here}#items"

    items = list_items(shadow, **chosen)
    total = items.count()
    page = list(items.order_by("-pk")[:ITEMS])
    payloads = read_payloads(page)
    running = is_running(shadow, at)
    until = at if running else shadow.ended_at or shadow.ends_at
    lasted = (until - shadow.started_at).total_seconds()
    whole = (shadow.ends_at - shadow.started_at).total_seconds()
    return ShadowPage(
        code=str(shadow.code),
        policy=shadow.policy.name,
        version=shadow.version.version,
        running=running,
        end=_ENDS[shadow.end],
        note=make_visible_line(shadow.note),
        by=make_visible_line(shadow.by.username),
        started=build_past_moment(shadow.started_at, at),
        left=build_future_moment(shadow.ends_at, at) if running else None,
        share=min(100.0, 100 * lasted / whole),
        lasted=format_span(int(lasted * 1000)),
        sentence=_build_sentence(result, link, running=running),
        figures=_build_figures(result, link),
        matrices=build_matrices(result, link),
        bars=build_bars(result, link, shadow.items.all()),
        more_bars=max(len(result["by_rule"]) - BARS, 0),
        changed=result["changed"] + result["unknown"],
        proposals=list_proposal_rows(shadow, link),
        tabs=_build_tabs(result, link, chosen),
        rows=tuple(_build_row(item, payloads.get(item.pk, {}), slug) for item in page),
        shown=total,
        more=max(total - ITEMS, 0),
    )


def _build_sentence(
    result: Mapping[str, Any], link: Link, *, running: bool
) -> tuple[Part, ...]:
    """What the draft would have done, in a line."""
    judged, changed = result["judged"], result["changed"]
    if not judged and not result["unknown"]:
        return (
            Part(
                text="Nothing was decided yet: it waits for the next step or call."
                if running
                else "Nothing was decided in this time."
            ),
        )
    if not changed:
        same = format_count(judged, "decision")
        said = "Both decide the same so far" if running else "Both decided the same"
        return (Part(text=f"{said}: {same}."),)
    more, less = result["would_have_asked"], result["would_not_have_asked"]
    asks = "it would ask" if running else "it would have asked"
    parts = [
        Part(text="The draft decides " if running else "The draft would have decided "),
        Part(
            text=f"{changed:,} of {format_count(judged, 'decision')}",
            address=link(outcome="changed"),
        ),
        Part(text=f" differently, in {format_count(result['runs_changed'], 'run')}"),
    ]
    if more:
        parts += [
            Part(text=f"; {asks} people in "),
            Part(text=format_count(more, "more case"), address=link(asks="more")),
        ]
    if less:
        parts += [
            Part(
                text=" and no longer in " if more else f"; {asks} people no longer in "
            ),
            Part(text=format_count(less, "case"), address=link(asks="less")),
        ]
    return (*parts, Part(text="."))


def _build_figures(
    result: Mapping[str, Any], link: Link
) -> tuple[tuple[str, str, str, str, str], ...]:
    """Name, value, tone, what is beside it, and the list."""
    judged, changed = result["judged"], result["changed"]
    more, less = result["would_have_asked"], result["would_not_have_asked"]
    unknown = result["unknown"]
    minus = "\N{MINUS SIGN}"
    return (
        ("Judged by both", f"{judged:,}", "", "steps and calls", ""),
        (
            "Come out differently",
            f"{changed:,}",
            "",
            f"{100 * changed / judged:.2g} %" if judged else "of nothing yet",
            link(outcome="changed"),
        ),
        (
            *("People asked more", f"+{more:,}" if more else "0"),
            *("pause" if more else "", "new pauses and questions", link(asks="more")),
        ),
        (
            *("People asked less", f"{minus}{less:,}" if less else "0"),
            *("go" if less else "", "no longer asked", link(asks="less")),
        ),
        (
            "Could not be judged",
            f"{unknown:,}",
            "stop" if unknown else "",
            next(iter(result["unknown_reasons"]), "by the draft"),
            link(outcome="unknown"),
        ),
    )


def _build_tabs(
    result: Mapping[str, Any], link: Link, chosen: Mapping[str, str]
) -> tuple[tuple[str, str, bool], ...]:
    every = result["changed"] + result["unknown"]
    offered: list[tuple[str, dict[str, str]]] = [
        (f"All {every:,}", {}),
        (f"Asked more {result['would_have_asked']:,}", {"asks": "more"}),
        (f"Asked less {result['would_not_have_asked']:,}", {"asks": "less"}),
    ]
    if result["unknown"]:
        offered.append((f"Not judged {result['unknown']:,}", {"outcome": "unknown"}))
    tabs = [(name, link(**query), dict(chosen) == query) for name, query in offered]
    if not any(current for _, _, current in tabs):
        names = ", ".join(
            make_visible_line(format_decision(value)) for value in chosen.values()
        )
        tabs.append((names, link(**chosen), True))
    return tuple(tabs)


def _build_row(
    item: PolicyShadowItem, payload: Mapping[str, Any], slug: str
) -> ShadowRow:
    before = payload.get("before") or {"decision": "", "findings": []}
    first, second = build_judged(before), None
    if payload.get("after"):
        first, second = build_both(before, payload["after"])
    return ShadowRow(
        icon=ICONS.get(item.kind, "dot"),
        what=make_visible_line(payload.get("subject") or "no longer kept"),
        agent=make_visible_line(item.run.agent.name),
        step=payload.get("step", 0),
        code=format_short_code(item.run.code),
        run=f"{reverse('console:run', args=[slug, item.run.code])}#entry-{item.seq}",
        before=first,
        after=second,
        reason=make_visible_line(item.reason),
        at=format_iso(item.at),
    )
