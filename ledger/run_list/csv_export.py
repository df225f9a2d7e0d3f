"""A list of runs as CSV: streamed, bounded, and safe to open in a spreadsheet."""

from __future__ import annotations

from typing import Any, NamedTuple

from common.responses import write_csv_head, write_csv_lines
from guidance.core.money import format_usd
from guidance.selectors import get_policy
from ledger.chain import format_timestamp
from ledger.models import Run
from ledger.run_list.filter import RunFilter
from ledger.run_list.paging import Position, Sort, list_page, parse_cursor
from ledger.run_list.scope import Scope
from ledger.serializers import RUN_RELATED, build_run_url
from ledger.state import compute_time_used

ROWS_LIMIT = 50_000
COLUMNS = (
    *("id", "agent", "task", "intent", "model", "policy", "labels", "status"),
    *("status_reason", "accepted", "steps", "tokens", "tool_calls", "cost_usd"),
    *("time_ms", "created_at", "finished_at", "url"),
)
_PAGE = 500


class Place(NamedTuple):
    """The beginning of a page, and how many rows stand before it."""

    position: Position
    before: int


def read_csv(
    place: Place | None, *, scope: Scope, wanted: RunFilter, sort: Sort
) -> tuple[str, Place | None]:
    """A page of lines, behind a head on the first; a last line tells of runs left out."""
    page = list_page(
        scope=scope,
        wanted=wanted,
        sort=sort,
        position=place.position if place else None,
        limit=_PAGE,
        related=RUN_RELATED,
    )
    text = "" if place else write_csv_head(COLUMNS)
    text += write_csv_lines(map(list_cells, page.runs))
    count = len(page.runs) + (place.before if place else 0)
    if page.next_cursor is None:
        return text, None
    if count >= ROWS_LIMIT:
        left_out = f"Only the first {ROWS_LIMIT:,} runs are listed."
        return text + write_csv_lines([[left_out]]), None
    position = parse_cursor(page.next_cursor, scope=scope, sort=sort)
    assert position is not None  # the list gave it out
    return text, Place(position, count)


def list_cells(run: Run) -> list[Any]:
    """The values of COLUMNS, in their order; figures are the run's own."""
    policy = get_policy(run.policy_id)
    outcome = getattr(run, "outcome", None)
    accepted = None if outcome is None else outcome.accepted
    return [
        run.code,
        run.agent.name,
        run.task,
        run.intent,
        run.model,
        "{name}@{version}".format(**policy.build_stamp()),
        " ".join(f"{name}={value}" for name, value in sorted(run.labels.items())),
        run.status,
        run.status_reason,
        accepted,
        run.steps,
        run.tokens_used,
        run.tool_calls_used,
        format_usd(run.cost_micros_used),
        compute_time_used(run, run.updated_at),
        format_timestamp(run.created_at),
        format_timestamp(run.finished_at) if run.finished_at else "",
        build_run_url(project_slug=run.project.slug, run=str(run.code)),
    ]
