"""python -m bench.gates: how well and how fast commands and whole calls are judged.

The exit status says whether every target was met.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

from bench.figures import Figure, render_table
from bench.gates.held_out import measure_held_out
from bench.gates.peer import PACKAGE, VERSION, Peer, install_peer
from bench.gates.speed import measure_speed
from guidance.core.shell_commands import judge_command
from tests.guidance.core.shell_commands.corpus import CASES
from tests.guidance.core.shell_commands.corpus.measure import Row, measure


def main() -> int:
    began = time.monotonic()
    with install_peer() as peer:
        if peer is not None:
            print(f"bench: the peer is {PACKAGE} {VERSION}", flush=True)
        print(f"bench: judging {len(CASES):,} commands …", flush=True)
        figures = [
            *measure_quality(peer),
            *measure_held_out(peer),
            *measure_speed(peer),
        ]
    print(f"\n{render_table(figures)}\n")
    print(
        f"bench: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"{time.monotonic() - began:.0f} seconds"
    )
    return 0 if all(figure.met is not False for figure in figures) else 1


def measure_quality(peer: Peer | None) -> Iterator[Figure]:
    """Recall and false alarms, category by category and in all."""
    ours = measure(_list_rules)
    theirs: tuple[Row, ...] | None = None
    if peer is not None:
        commands = [case.command for case in CASES]
        verdicts = dict(zip(commands, peer.judge(commands), strict=True))
        theirs = measure(
            lambda command: [("any", False)] if verdicts[command].caught else []
        )
    for place, row in enumerate(ours):
        yield from _build_figures(row, theirs[place] if theirs else None)
    yield from _build_figures(_sum(ours), _sum(theirs) if theirs else None)


def _list_rules(command: str) -> list[tuple[str, bool]]:
    return [(found.rule, found.uninspectable) for found in judge_command(command)]


def _sum(rows: tuple[Row, ...]) -> Row:
    return Row(
        category="all of them",
        dangerous=sum(row.dangerous for row in rows),
        caught=sum(row.caught for row in rows),
        exact=sum(row.exact for row in rows),
        harmless=sum(row.harmless for row in rows),
        alarms=sum(row.alarms for row in rows),
    )


def _build_figures(row: Row, peer: Row | None) -> Iterator[Figure]:
    if row.dangerous:
        yield Figure(
            label=f"{row.category}: caught",
            figure=f"{row.caught:,} of {row.dangerous:,}",
            compared_with=_format_share(peer.recall) if peer else "",
            target="all",
            met=row.caught == row.dangerous == row.exact,
        )
    if row.harmless:
        yield Figure(
            label=f"{row.category}: false alarms",
            figure=f"{row.alarms:,} of {row.harmless:,}",
            compared_with=_format_share(peer.alarm_rate) if peer else "",
            target="none",
            met=row.alarms == 0,
        )


def _format_share(part: float | None) -> str:
    return "" if part is None else f"peer {part:.1%}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
