"""A curve as the page shows it: its title and newest figure, the drawing, the same as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from console.charts.lines import Limit, Line, draw_lines, find_x
from console.charts.plot import Plot, Tick
from console.charts.scale import Scale, choose_places

HEIGHT = 104
_TICKS_APART = 9.0
_ROWS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """`tone` is that of `figure`, empty within the limit."""

    title: str
    figure: str
    tone: str
    beside: str
    about: str
    plot: Plot


def build_plot_of_steps(
    lines: Sequence[Line],
    *,
    numbers: Sequence[int],
    named: Sequence[int],
    scale: Scale,
    limit: Limit | None,
    about: str,
    write: Callable[[float], str],
    columns: tuple[str, ...],
    table: Sequence[Sequence[float | None]],
) -> Plot:
    """`numbers` are the steps, of which those in `named` have their number below. `table`
    has the values of each column of figures."""
    return Plot(
        steps=tuple(write(each) if each else "0" for each in scale.steps),
        drawing=draw_lines(
            lines,
            scale=scale,
            about=about,
            ticks=_build_ticks(numbers, named, places=len(lines[0].values)),
            limit=limit,
        ),
        columns=("Step", *columns),
        rows=tuple(
            (
                str(numbers[place]),
                *(
                    "–" if values[place] is None else write(values[place] or 0.0)
                    for values in table
                ),
            )
            for place in choose_places(len(numbers), wanted=_ROWS)
        ),
    )


def _build_ticks(
    numbers: Sequence[int], named: Sequence[int], *, places: int
) -> list[Tick]:
    """The first, the last, and between them those with room for a word."""
    last = len(numbers) - 1
    ticks = [Tick(x=0.0, text=f"step {numbers[0]}")]
    end = Tick(x=find_x(last, places), text=str(numbers[last]))
    for place, number in enumerate(numbers):
        x = find_x(place, places)
        clear = x - ticks[-1].x > _TICKS_APART + (6 if len(ticks) == 1 else 0)
        if number in named and clear and end.x - x > _TICKS_APART:
            ticks.append(Tick(x=x, text=str(number)))
    return [*ticks, end]


def draw_held(
    values: Sequence[float | None], tones: Sequence[str], *, places: int
) -> list[Line]:
    """A dot for each place where the run was held, in the tone of that."""
    drawn = []
    for place, (value, tone) in enumerate(zip(values, tones, strict=True)):
        if value is not None and tone:
            alone: list[float | None] = [None] * places
            alone[place] = value
            drawn.append(Line(tone=tone, values=alone, dotted=True))
    return drawn
