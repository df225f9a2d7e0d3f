"""What changed in a project since a cursor, as one message for all who stand there.

Rendered from the database at the moment of sending, so a late nudge can never show an
older state than a newer one did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import Project
from console.fragments import build_partial
from console.queue import fragments as queue_fragments
from console.queue.floods import list_flood_notices
from console.queue.rows import build_rows
from console.runs import fragments as run_fragments
from console.runs.checks import build_run_checks
from console.runs.page import build_page, get_run
from console.runs.rows import (
    Fleet,
    build_run_rows,
    count_fleet,
    get_live_position,
)
from console.runs.timeline import PAGE, build_timeline, list_entries
from ledger.models import Entry, Run
from ledger.selectors import exclude_loop_runs
from reviews.models import Permission, ReviewState
from reviews.queue.order import Tally, count_reviews, list_reviews
from reviews.rulings.take_overs import TAKING_OVER, list_take_overs

# Further behind than this, a whole list is cheaper than its rows one by one.
ROWS_LIMIT = 100
ENTRIES_LIMIT = 5_000
EVERYTHING = ("*",)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A kind of page on a project; `run` only for the page of one run."""

    project_id: int
    name: str
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """A message, and where a page stands once it has taken it in."""

    position: int
    text: str


class Change(NamedTuple):
    run_id: int
    type: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A view's own part of a message, and the reviews that an open pane may show."""

    parts: Sequence[str] = ()
    touched: Iterable[object] = ()


def build_news(wanted: Iterable[tuple[View, int]]) -> dict[tuple[View, int], News]:
    """For each (view, cursor) that is behind: the message, rendered once."""
    found: dict[tuple[View, int], News] = {}
    frames: dict[int, Frame] = {}
    for view, since in wanted:
        frame = frames.get(view.project_id)
        if frame is None:
            frame = frames[view.project_id] = Frame(view.project_id)
        if since != frame.position:
            text = frame.message(view, since=since)
            found[view, since] = News(position=frame.position, text=text)
    return found


class Frame:
    """One project at one moment. The position is read first: whatever is read after
    it may be newer than it, never older."""

    def __init__(self, project_id: int) -> None:
        self.project_id = project_id
        self.position = get_live_position(project_id=project_id)
        self.at = timezone.now()

    @cached_property
    def slug(self) -> str:
        return Project.objects.values_list("slug", flat=True).get(pk=self.project_id)

    @cached_property
    def tally(self) -> Tally:
        return count_reviews(project_id=self.project_id)

    @cached_property
    def fleet(self) -> Fleet:
        return count_fleet(project_id=self.project_id)

    def message(self, view: View, *, since: int) -> str:
        changes = self._changes(since)
        match view.name:
            case "queue":
                body = self._queue(since, changes)
            case "runs":
                body = self._runs(changes)
            case "permissions":
                body = self._permissions(changes)
            case "loop":
                body = self._loop(changes)
            case "gates" | "webhooks":
                body = Body()  # not made of entries: read anew when the page is
            case _:
                body = self._run(view.run, since=since, changes=changes)
        mark = _render_cursor(since=self.position, touched=body.touched)
        return "".join(
            (
                *body.parts,
                *self._take_overs(changes, since=since),
                build_partial("#nav-queue-count", "textContent", str(self.tally.total)),
                build_partial("#nav-run-count", "textContent", str(self.fleet.total)),
                build_partial(
                    "#fleet", "outerMorph", run_fragments.render_fleet(self.fleet)
                ),
                # Last: the page stands here only after all of the above is on it.
                build_partial("#live-cursor", "outerHTML", mark),
            )
        )

    def _take_overs(self, changes: list[Change] | None, *, since: int) -> Sequence[str]:
        """On every page: whoever had claimed a review may be anywhere."""
        if not any(item.type in TAKING_OVER for item in changes or ()):
            return ()
        found = list_take_overs(
            project_id=self.project_id, since=since, until=self.position
        )
        drawn = queue_fragments.render_take_overs(found, slug=self.slug)
        return (build_partial("#take-overs", "outerHTML", drawn),) if found else ()

    def _changes(self, since: int) -> list[Change] | None:
        """None when it is too much, or the cursor is of another database."""
        if not 0 <= self.position - since <= ENTRIES_LIMIT:
            return None
        rows = Entry.objects.filter(
            project_id=self.project_id,
            position__gt=since,
            position__lte=self.position,
        ).values_list("run_id", "type", "at")
        return [Change(*row) for row in rows]

    def _queue(self, since: int, changes: list[Change] | None) -> Body:
        """Each review that something happened to: its row, or that it is gone."""
        if changes is not None and not any(map(_is_about_a_review, changes)):
            return Body()
        counts = queue_fragments.render_counts(self.tally)
        found = list_flood_notices(
            project_id=self.project_id, slug=self.slug, total=self.tally.total
        )
        parts = [
            build_partial("#queue-counts", "outerHTML", counts),
            build_partial(
                "#floods", "outerMorph", queue_fragments.render_floods(found)
            ),
        ]
        codes = self._reviews_named(since) if changes is not None else None
        if codes is None or len(codes) > ROWS_LIMIT:
            # Too much to be told: the list fetches its part anew.
            return Body(parts=parts, touched=EVERYTHING)
        reviews = list_reviews(project_id=self.project_id, codes=codes)
        opened = [item for item in reviews if item.state == ReviewState.OPEN]
        waiting = build_rows(opened, slug=self.slug, at=self.at, seq=self.position)
        rows = [
            *map(queue_fragments.render_row, waiting),
            *(
                queue_fragments.render_removal(item.code, seq=self.position)
                for item in reviews
                if item.state != ReviewState.OPEN
            ),
        ]
        parts.append(build_partial("#queue", "rowsync", *rows))
        return Body(parts=parts, touched=[item.code for item in reviews])

    def _reviews_named(self, since: int) -> set[str]:
        entries = Entry.objects.filter(
            project_id=self.project_id,
            position__gt=since,
            position__lte=self.position,
            type__startswith="review.",
        )
        payloads = entries.values_list("payload", flat=True)
        return {json.loads(payload)["review"] for payload in payloads}

    def _runs(self, changes: list[Change] | None) -> Body:
        runs = {change.run_id for change in changes or ()}
        if changes is None or len(runs) > ROWS_LIMIT:
            # The list knows its own filters: it fetches itself.
            return Body(touched=EVERYTHING)
        found = (
            exclude_loop_runs(Run.objects.filter(pk__in=runs))
            .select_related("agent")
            .defer("memory")
            .order_by("pk")
        )
        rows = build_run_rows(found, slug=self.slug, at=self.at, seq=self.position)
        drawn = [run_fragments.render_row(row) for row in rows]
        return Body(parts=[build_partial("#runs-list", "rowsync", *drawn)])

    def _permissions(self, changes: list[Change] | None) -> Body:
        """The page fetches itself once one was granted, used or revoked."""
        if changes is None or any(
            change.type in {"review.ruled", "permission.revoked"} for change in changes
        ):
            return Body(touched=EVERYTHING)
        calls = [change.at for change in changes if change.type == "call.judged"]
        used = (
            calls
            and Permission.objects.filter(
                project_id=self.project_id, last_used_at__gte=min(calls)
            ).exists()
        )
        return Body(touched=EVERYTHING if used else ())

    def _loop(self, changes: list[Change] | None) -> Body:
        """The page fetches itself once the loop did anything."""
        if changes is None or any(item.type.startswith("loop.") for item in changes):
            return Body(touched=EVERYTHING)
        return Body()

    def _run(self, code: str, *, since: int, changes: list[Change] | None) -> Body:
        run = get_run(project_id=self.project_id, code=code)
        if run is None:
            return Body()
        if changes is not None and all(item.run_id != run.pk for item in changes):
            return Body()
        page = build_page(run, slug=self.slug, at=self.at)
        entries = list_entries(run)[:PAGE]
        new = [entry for entry in entries if entry.position > since]
        swap = "rowsync"
        if changes is None or len(new) == PAGE:
            new, swap = entries, "innerMorph"
        rows = build_timeline(new, run=run, at=self.at)
        drawn = [run_fragments.render_timeline_row(row) for row in rows]
        checks = build_run_checks(run, slug=self.slug, at=self.at)
        return Body(
            parts=(
                build_partial(
                    "#run-checks", "outerMorph", run_fragments.render_checks(checks)
                ),
                *(
                    build_partial(f"#{name}", "outerMorph", drawn_part)
                    for name, drawn_part in run_fragments.render_parts(page).items()
                ),
                build_partial("#timeline", swap, *drawn),
            )
        )


def _is_about_a_review(change: Change) -> bool:
    return change.type.startswith("review.")


def _render_cursor(*, since: int, touched: Iterable[object]) -> SafeString:
    """Where the page stands. `touched` names reviews that an open pane may show."""
    codes = " ".join(map(str, touched))
    return format_html(
        '<i id="live-cursor" data-since="{}" data-touched="{}" hidden></i>',
        since,
        codes,
    )
