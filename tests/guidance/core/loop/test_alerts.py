"""Incidents: IN-01 to IN-09 as a latch, without a database."""

from __future__ import annotations

from dataclasses import replace

from guidance.core.loop.alerts import Alert, Standing, latch_alert
from tests.support.rows import each_row

FIRING = Alert(condition="disk", status="firing", title="Full")
RESOLVED = Alert(condition="disk", status="resolved", title="Well again")
WELL = Alert(condition="all", status="all_good", title="All is well")
OPEN = Standing(code="a", is_open=True, content=FIRING.content)
CLOSED = Standing(code="a", content=FIRING.content)
OTHER = ("high", "Fuller", "")


@each_row(
    ("row", "alert", "standing", "change", "told"),
    [
        ("IN-01", FIRING, Standing(), "opened", True),
        ("IN-02", FIRING, OPEN, "joined", False),
        (
            "IN-03 first",
            FIRING,
            Standing(code="a", is_open=True, content=OTHER),
            "changed",
            True,
        ),
        (
            "IN-03 second",
            FIRING,
            Standing(code="a", is_open=True, content=OTHER, changed_today=True),
            "joined",
            False,
        ),
        ("IN-04", RESOLVED, OPEN, "resolved", True),
        ("IN-04 again", RESOLVED, CLOSED, "dropped", False),
        ("IN-05", FIRING, CLOSED, "opened", True),
        ("IN-06", FIRING, Standing(others_open=5), "opened", True),
        ("IN-07", WELL, Standing(), "well", True),
        ("IN-07 again", WELL, Standing(told_well_today=True), "dropped", False),
        ("IN-07 not so", WELL, Standing(others_open=1), "dropped", False),
        ("IN-09 green", RESOLVED, Standing(), "dropped", False),
    ],
)
def test_a_condition_is_told_when_it_moves(
    row: str, alert: Alert, standing: Standing, change: str, told: bool
) -> None:
    latched = latch_alert(alert, standing)
    assert (latched.change, latched.silent is None) == (change, told), row
    assert Standing.from_json(standing.to_json()) == standing


@each_row(
    "repeat",
    [
        replace(FIRING, severity="high"),
        replace(FIRING, title="Fuller"),
        replace(FIRING, detail="Two days are left."),
    ],
)
def test_another_severity_title_or_detail_is_a_change(repeat: Alert) -> None:
    assert latch_alert(repeat, OPEN).change == "changed"
