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
from console.halts.fragments import render_banner
from console.halts.rows import list_banner_rows
from console.live.queue_changes import render_changes
from console.queue import fragments as queue_fragments
from console.queue.floods import build_filling_notices
from console.runs import fragments as run_fragments
from console.runs.checks import build_run_checks
from console.runs.entries.paging import (
    PAGE,
    count_kinds,
    describe_length,
    list_newest_entries,
)
from console.runs.list.rows import build_run_rows
from console.runs.page import build_page, get_run
from console.runs.rows import Fleet, count_fleet, get_live_position
from console.runs.timeline import build_timeline
from ledger.models import Entry, Run
from ledger.selectors import exclude_system_runs
from ledger.state import parse_lineage
from ledger.trees.descendants import is_any_below
from reviews.models import Permission
from reviews.queue.order import list_reviews
from reviews.queue.tally import Tally, count_reviews
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
class Update:
    """A message, and where a page stands once it has taken it in. `changes` is how often
    something happened to a review meanwhile."""

    position: int
    text: str
    changes: int = 0


class NewEntry(NamedTuple):
    run_id: int
    type: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewPart:
    """A view's own part of a message, and the reviews that an open pane may show."""

    parts: Sequence[str] = ()
    touched: Iterable[object] = ()


def build_updates(wanted: Iterable[tuple[View, int]]) -> dict[tuple[View, int], Update]:
    """For each (view, cursor) that is behind: the message, rendered once."""
    found: dict[tuple[View, int], Update] = {}
    snapshots: dict[int, ProjectSnapshot] = {}
    for view, since in wanted:
        snapshot = snapshots.get(view.project_id)
        if snapshot is None:
            snapshot = snapshots[view.project_id] = ProjectSnapshot(view.project_id)
        if since != snapshot.position:
            found[view, since] = snapshot.build_update(view, since=since)
    return found


class ProjectSnapshot:
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

    def build_update(self, view: View, *, since: int) -> Update:
        new_entries = self._list_new_entries(since)
        return Update(
            position=self.position,
            text=self._build_message(view, since=since, new_entries=new_entries),
            changes=sum(map(_is_about_a_review, new_entries or ())),
        )

    def _build_message(
        self, view: View, *, since: int, new_entries: list[NewEntry] | None
    ) -> str:
        match view.name:
            case "queue":
                part = self._render_queue(since, new_entries)
            case "runs":
                part = self._render_runs(new_entries)
            case "permissions":
                part = self._render_permissions(new_entries)
            case "loop":
                part = self._render_loop(new_entries)
            case "shadow":
                part = self._render_shadow(new_entries)
            case "halts":
                part = self._render_halts(new_entries)
            case "gates" | "ledger" | "webhooks" | "settings":
                part = ViewPart()  # not made of entries: read anew when the page is
            case _:
                part = self._render_run(view.run, since=since, new_entries=new_entries)
        mark = _render_cursor(since=self.position, touched=part.touched)
        return "".join(
            (
                *part.parts,
                *self._render_take_overs(new_entries, since=since),
                *self._render_banner(new_entries),
                build_partial("#nav-queue-count", "textContent", str(self.tally.total)),
                build_partial("#nav-run-count", "textContent", str(self.fleet.total)),
                build_partial(
                    "#fleet", "outerMorph", run_fragments.render_fleet(self.fleet)
                ),
                # Last: the page stands here only after all of the above is on it.
                build_partial("#live-cursor", "outerHTML", mark),
            )
        )

    def _render_banner(self, new_entries: list[NewEntry] | None) -> Sequence[str]:
        """On every page, as soon as something is halted or released."""
        if not _are_halts_changed(new_entries):
            return ()
        rows = list_banner_rows(project_id=self.project_id, slug=self.slug, at=self.at)
        drawn = render_banner(rows, slug=self.slug)
        return (build_partial("#halts", "outerMorph", drawn),)

    def _render_halts(self, new_entries: list[NewEntry] | None) -> ViewPart:
        """The page fetches itself."""
        changed = _are_halts_changed(new_entries)
        return ViewPart(touched=EVERYTHING if changed else ())

    def _render_take_overs(
        self, new_entries: list[NewEntry] | None, *, since: int
    ) -> Sequence[str]:
        """On every page: whoever had claimed a review may be anywhere."""
        if not any(item.type in TAKING_OVER for item in new_entries or ()):
            return ()
        found = list_take_overs(
            project_id=self.project_id, since=since, until=self.position
        )
        drawn = queue_fragments.render_take_overs(found, slug=self.slug)
        return (build_partial("#take-overs", "outerHTML", drawn),) if found else ()

    def _list_new_entries(self, since: int) -> list[NewEntry] | None:
        """None when it is too much, or the cursor is of another database."""
        if not 0 <= self.position - since <= ENTRIES_LIMIT:
            return None
        rows = Entry.objects.filter(
            project_id=self.project_id,
            position__gt=since,
            position__lte=self.position,
        ).values_list("run_id", "type", "at")
        return [NewEntry(*row) for row in rows]

    def _render_queue(self, since: int, new_entries: list[NewEntry] | None) -> ViewPart:
        """Each review that something happened to: its row, or that it is gone."""
        if new_entries is not None and not any(map(_is_about_a_review, new_entries)):
            return ViewPart()
        counts = queue_fragments.render_counts(self.tally)
        found = build_filling_notices(
            project_id=self.project_id, slug=self.slug, tally=self.tally
        )
        parts = [
            build_partial("#queue-counts", "outerHTML", counts),
            build_partial(
                "#floods", "outerMorph", queue_fragments.render_floods(found)
            ),
        ]
        codes = self._list_review_codes(since) if new_entries is not None else None
        if codes is None or len(codes) > ROWS_LIMIT:
            # Too much to be told: the list fetches its part anew.
            return ViewPart(parts=parts, touched=EVERYTHING)
        reviews = list_reviews(project_id=self.project_id, codes=codes)
        rows = render_changes(
            reviews,
            project_id=self.project_id,
            slug=self.slug,
            at=self.at,
            seq=self.position,
        )
        parts.append(build_partial("#queue", "rowsync", *rows))
        return ViewPart(parts=parts, touched=[item.code for item in reviews])

    def _list_review_codes(self, since: int) -> set[str]:
        entries = Entry.objects.filter(
            project_id=self.project_id,
            position__gt=since,
            position__lte=self.position,
            type__startswith="review.",
        )
        payloads = entries.values_list("payload", flat=True)
        return {json.loads(payload)["review"] for payload in payloads}

    def _render_runs(self, new_entries: list[NewEntry] | None) -> ViewPart:
        runs = _add_ancestors({entry.run_id for entry in new_entries or ()})
        if new_entries is None or len(runs) > ROWS_LIMIT:
            # The list knows its own filters: it fetches itself.
            return ViewPart(touched=EVERYTHING)
        found = (
            exclude_system_runs(Run.objects.filter(pk__in=runs))
            .select_related("agent", "outcome")
            .defer("memory")
            .order_by("pk")
        )
        rows = build_run_rows(
            list(found), slug=self.slug, at=self.at, seq=self.position
        )
        drawn = [run_fragments.render_row(row) for row in rows]
        return ViewPart(parts=[build_partial("#runs-list", "rowsync", *drawn)])

    def _render_permissions(self, new_entries: list[NewEntry] | None) -> ViewPart:
        """The page fetches itself once one was granted, used or revoked."""
        if new_entries is None or any(
            entry.type == "review.ruled"
            or entry.type.startswith(("permission.", "exemption."))
            for entry in new_entries
        ):
            return ViewPart(touched=EVERYTHING)
        calls = [entry.at for entry in new_entries if entry.type == "call.judged"]
        used = (
            calls
            and Permission.objects.filter(
                project_id=self.project_id, last_used_at__gte=min(calls)
            ).exists()
        )
        return ViewPart(touched=EVERYTHING if used else ())

    def _render_loop(self, new_entries: list[NewEntry] | None) -> ViewPart:
        """The page fetches itself once the loop did anything, or another policy is in
        force: what a recommendation would change is told against it."""
        if new_entries is None or any(
            item.type.startswith(("loop.", "policy.")) for item in new_entries
        ):
            return ViewPart(touched=EVERYTHING)
        return ViewPart()

    def _render_shadow(self, new_entries: list[NewEntry] | None) -> ViewPart:
        """The page fetches itself once a draft decided otherwise, or was stopped."""
        if new_entries is None or any(
            item.type.startswith(("shadow.", "policy.")) for item in new_entries
        ):
            return ViewPart(touched=EVERYTHING)
        return ViewPart()

    def _render_run(
        self, code: str, *, since: int, new_entries: list[NewEntry] | None
    ) -> ViewPart:
        run = get_run(project_id=self.project_id, code=code)
        if run is None:
            return ViewPart()
        changed = {item.run_id for item in new_entries or ()}
        if (
            new_entries is not None
            and run.pk not in changed
            and not is_any_below(run, changed)
        ):
            return ViewPart()
        page = build_page(run, slug=self.slug, at=self.at)
        entries = list_newest_entries(run)
        new = [entry for entry in entries if entry.position > since]
        swap = "rowsync"
        if new_entries is None or len(new) == PAGE:
            new, swap = entries, "innerMorph"
        rows = build_timeline(new, run=run, at=self.at, slug=self.slug)
        drawn = [run_fragments.render_timeline_row(row) for row in rows]
        checks = build_run_checks(run, slug=self.slug, at=self.at)
        return ViewPart(
            parts=(
                build_partial(
                    "#run-checks", "outerMorph", run_fragments.render_checks(checks)
                ),
                *(
                    build_partial(f"#{name}", "outerMorph", drawn_part)
                    for name, drawn_part in run_fragments.render_parts(page).items()
                ),
                build_partial("#timeline", swap, *drawn),
                build_partial("#entries-count", "textContent", describe_length(run)),
                *(
                    build_partial(f"#{kind}-count", "textContent", f"{count:,}")
                    for kind, count in count_kinds(run).items()
                ),
            )
        )


def _add_ancestors(run_ids: set[int]) -> set[int]:
    """What a run uses is shown on the row of every run above it, too."""
    children = Run.objects.filter(pk__in=run_ids).exclude(lineage="")
    lineages = children.values_list("lineage", flat=True)
    return run_ids | {above for each in lineages for above in parse_lineage(each)}


def _are_halts_changed(new_entries: list[NewEntry] | None) -> bool:
    if new_entries is None:
        return True
    return any(item.type.startswith("halt.") for item in new_entries)


def _is_about_a_review(entry: NewEntry) -> bool:
    return entry.type.startswith("review.")


def _render_cursor(*, since: int, touched: Iterable[object]) -> SafeString:
    """Where the page stands. `touched` names reviews that an open pane may show."""
    codes = " ".join(map(str, touched))
    return format_html(
        '<i id="live-cursor" data-since="{}" data-touched="{}" hidden></i>',
        since,
        codes,
    )
