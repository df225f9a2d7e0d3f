"""The only renderer of fragments: pages and sockets get the same strings from here.

A fragment knows no viewer (no user, no CSRF token, no chosen filter): it is rendered
once and sent to everybody. What depends on the viewer is settled on their screen, or
fetched over HTTP. The detail pane is the one exception and never travels by socket.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from django.template.loader import get_template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from console.queue.row_groups import Edge, QueueList
from console.queue.rows import ReviewCard
from console.runs.checks import RunChecks
from console.runs.page import RunPage
from console.runs.rows import Fleet, RunRow
from console.runs.timeline import TimelineRow
from reviews.queue.floods import Flood
from reviews.queue.order import Tally
from reviews.rulings.take_overs import TakeOver

Context = dict[str, object]


def render(template: str, context: Context) -> SafeString:
    return SafeString(get_template(template).render(context))


def review_row(card: ReviewCard) -> SafeString:
    return render("console/queue/_row.html", {"card": card})


def review_gone(code: object, *, seq: int) -> SafeString:
    """Told to a list that may still show the row."""
    return format_html('<li id="review-{}" data-seq="{}" data-gone></li>', code, seq)


def queue_list(listed: QueueList) -> SafeString:
    return render("console/queue/_queue_list.html", {"list": listed})


def queue_edge(edge: Edge | None) -> SafeString:
    return render("console/queue/_queue_edge.html", {"edge": edge})


def queue_counts(tally: Tally) -> SafeString:
    """Every number of the queue; the screen knows whose and which filter it shows."""
    return render("console/queue/_queue_counts.html", {"tally": tally})


def floods(found: Sequence[Flood]) -> SafeString:
    return render("console/queue/_floods.html", {"floods": found})


def fleet_card(fleet: Fleet) -> SafeString:
    return render("console/_fleet.html", {"fleet": fleet})


def run_row(row: RunRow) -> SafeString:
    return render("console/runs/_run_row.html", {"row": row})


def timeline_row(row: TimelineRow) -> SafeString:
    return render("console/runs/_timeline_row.html", {"row": row})


def run_parts(page: RunPage) -> dict[str, SafeString]:
    """The parts of a run's page that change, by their ids."""
    return {
        name: render(f"console/runs/_{name.replace('-', '_')}.html", {"run": page})
        for name in ("run-bar", "run-head", "run-charts", "run-side")
    }


def run_checks(checks: RunChecks) -> SafeString:
    return render("console/runs/_run_checks.html", {"checks": checks})


def cursor(*, since: int, touched: Iterable[object] = ()) -> SafeString:
    """Where the page stands. `touched` names reviews that an open pane may show."""
    codes = " ".join(map(str, touched))
    return format_html(
        '<i id="live-cursor" data-since="{}" data-touched="{}" hidden></i>',
        since,
        codes,
    )


def take_overs(found: Iterable[TakeOver]) -> SafeString:
    """Who took what over from whom; each page tells its viewer what is for them."""
    notices = json.dumps([notice.to_json() for notice in found])
    return format_html('<i id="take-overs" data-take-overs="{}" hidden></i>', notices)


def partial(target: str, swap: str, *content: str) -> SafeString:
    """One part of a message: where it goes and how it is put there."""
    inside = mark_safe("".join(content))  # noqa: S308 (rendered fragments only)
    return format_html(
        '<hx-partial hx-target="{}" hx-swap="{}">{}</hx-partial>', target, swap, inside
    )
