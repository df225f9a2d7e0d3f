"""Charts as SVG, drawn on the server from numbers alone.

Colours come from CSS classes and places from attributes: a strict content policy forbids
`style=`. The small ones of a run stand in a frame of their own (`step_charts`). Those of
a page (`lines`, `bars`) have places in per cent across and in pixels down, so that marks
stretch with the page and words never do.
"""

from __future__ import annotations

from console.charts.step_charts import (
    BARS,
    BARS_LEAST,
    FIT_MIN_POINTS,
    FIT_WINDOW,
    StepFigure,
    draw_budget_chart,
    draw_fleet_bar,
    draw_gauge,
    draw_outcome_bars,
    draw_sparkline,
    draw_stacked_bar,
    draw_tokens_chart,
    fit_line,
)

__all__ = [
    "BARS",
    "BARS_LEAST",
    "FIT_MIN_POINTS",
    "FIT_WINDOW",
    "StepFigure",
    "draw_budget_chart",
    "draw_fleet_bar",
    "draw_gauge",
    "draw_outcome_bars",
    "draw_sparkline",
    "draw_stacked_bar",
    "draw_tokens_chart",
    "fit_line",
]
