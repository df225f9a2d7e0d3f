"""Fragments of the runs: a row of the list, and the parts of one run's page."""

from __future__ import annotations

from django.utils.safestring import SafeString

from console.fragments import render_fragment
from console.runs.checks import RunChecks
from console.runs.list.rows import RunRow
from console.runs.page import RunPage
from console.runs.rows import Fleet
from console.runs.timeline import TimelineRow


def render_row(row: RunRow) -> SafeString:
    return render_fragment("console/runs/list/_row.html", row=row)


def render_fleet(fleet: Fleet) -> SafeString:
    return render_fragment("console/_fleet.html", fleet=fleet)


def render_timeline_row(row: TimelineRow) -> SafeString:
    return render_fragment("console/runs/_entry_row.html", row=row)


def render_parts(page: RunPage) -> dict[str, SafeString]:
    """The parts of a run's page that change, by their ids."""
    return {
        name: render_fragment(f"console/runs/_{name.replace('-', '_')}.html", run=page)
        for name in (
            *("run-bar", "run-head", "run-evals", "run-charts", "run-side"),
            *("run-allowances", "run-plan", "run-notes", "run-open-below"),
        )
    }


def render_checks(checks: RunChecks) -> SafeString:
    return render_fragment("console/runs/_run_checks.html", checks=checks)
