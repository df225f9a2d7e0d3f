"""python -m bench.gates: how well and how fast commands are judged.

The exit status says whether every target was met.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping

from bench.figures import Figure, share, table
from bench.gates_peer import PACKAGE, VERSION, Peer, installed_peer
from guidance.core.commands import judge_command
from guidance.core.commands.limits import MAX_CHARACTERS
from tests.core.commands.corpus import CASES, sizes
from tests.core.commands.corpus.measure import Row, measure

KIB = 1024
MIB = 1024 * KIB
USUAL_LIMIT = 0.000_300
LONG_LIMIT = 0.020
ANY_LIMIT = 0.100
# Of which the best counts: other work on the machine only ever slows.
ROUNDS = 30
LONG_ROUNDS = 7
BOMB_ROUNDS = 3
# The peer takes minutes for longer ones.
PEER_BOMB_SIZE = 20 * KIB
BOMB_SIZES = (2 * KIB, 20 * KIB, 64 * KIB, 100 * KIB, MAX_CHARACTERS, MIB)


def main() -> int:
    began = time.monotonic()
    with installed_peer() as peer:
        if peer is not None:
            print(f"bench: the peer is {PACKAGE} {VERSION}", flush=True)
        print(f"bench: judging {len(CASES):,} commands …", flush=True)
        figures = [*quality(peer), *speed(peer)]
    print(f"\n{table(figures)}\n")
    print(
        f"bench: {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"{time.monotonic() - began:.0f} seconds"
    )
    return 0 if all(figure.met is not False for figure in figures) else 1


def quality(peer: Peer | None) -> Iterator[Figure]:
    """Recall and false alarms, category by category and in all."""
    ours = measure(_rules)
    theirs: tuple[Row, ...] | None = None
    if peer is not None:
        commands = [case.command for case in CASES]
        verdicts = dict(zip(commands, peer.judge(commands), strict=True))
        theirs = measure(
            lambda command: [("any", False)] if verdicts[command].caught else []
        )
    for place, row in enumerate(ours):
        yield from _qualities(row, theirs[place] if theirs else None)
    yield from _qualities(_sum(ours), _sum(theirs) if theirs else None)


def speed(peer: Peer | None) -> Iterator[Figure]:
    usual = sizes.usual(2 * KIB)
    took = _timings(judge_command, usual, rounds=ROUNDS)
    theirs = peer.timings(usual, rounds=ROUNDS) if peer else None
    yield _timed(
        "2 KiB, median of the kinds",
        share(sorted(took.values()), 0.5),
        USUAL_LIMIT,
        theirs=share(sorted(theirs.values()), 0.5) if theirs else None,
    )
    yield _slowest("2 KiB, slowest kind", took, theirs)
    long = sizes.usual(100 * KIB)
    took = _timings(judge_command, long, rounds=LONG_ROUNDS)
    theirs = peer.timings(long, rounds=LONG_ROUNDS) if peer else None
    yield _slowest("100 KiB, slowest kind", took, theirs, limit=LONG_LIMIT)
    bombs = {
        f"{name}, {size // KIB} KiB": text
        for size in BOMB_SIZES
        for name, text in sizes.bombs(size).items()
    }
    bombs |= sizes.FOUND_BY_FUZZING
    took = _timings(judge_command, bombs, rounds=BOMB_ROUNDS)
    yield _slowest(f"slowest of {len(bombs)} bombs", took, None, limit=ANY_LIMIT)
    if peer is not None:
        short = {
            name: text for name, text in bombs.items() if len(text) <= PEER_BOMB_SIZE
        }
        theirs = peer.timings(short, rounds=1)
        took = {name: took[name] for name in short}
        size = PEER_BOMB_SIZE // KIB
        yield _slowest(f"the same up to {size} KiB", took, theirs)


def _rules(command: str) -> list[tuple[str, bool]]:
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


def _qualities(row: Row, peer: Row | None) -> Iterator[Figure]:
    if row.dangerous:
        yield Figure(
            what=f"{row.category}: caught",
            figure=f"{row.caught:,} of {row.dangerous:,}",
            beside=_percent(peer.recall) if peer else "",
            target="all",
            met=row.caught == row.dangerous == row.exact,
        )
    if row.harmless:
        yield Figure(
            what=f"{row.category}: false alarms",
            figure=f"{row.alarms:,} of {row.harmless:,}",
            beside=_percent(peer.alarm_rate) if peer else "",
            target="none",
            met=row.alarms == 0,
        )


def _percent(part: float | None) -> str:
    return "" if part is None else f"peer {part:.1%}"


def _timings(
    judge: Callable[[str], object], texts: Mapping[str, str], *, rounds: int
) -> dict[str, float]:
    """The best of the rounds, without a collector that runs when it likes."""
    gc.disable()
    try:
        return {name: _best(judge, text, rounds) for name, text in texts.items()}
    finally:
        gc.enable()


def _best(judge: Callable[[str], object], text: str, rounds: int) -> float:
    """Processor time: judging waits for nothing, and others may use the machine."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        judge(text)
        best = min(best, time.process_time() - began)
    return best


def _slowest(
    what: str,
    took: Mapping[str, float],
    theirs: Mapping[str, float] | None,
    *,
    limit: float | None = None,
) -> Figure:
    name = max(took, key=lambda each: took[each])
    peer = max(theirs.values()) if theirs else None
    return _timed(f"{what} ({name})", took[name], limit, theirs=peer)


def _timed(
    what: str, seconds: float, limit: float | None, *, theirs: float | None
) -> Figure:
    return Figure(
        what=what,
        figure=_brief(seconds),
        beside="" if theirs is None else f"peer {_brief(theirs)}",
        ratio=None if theirs is None else seconds / theirs,
        target="" if limit is None else f"under {_brief(limit)}",
        met=None if limit is None else seconds < limit,
    )


def _brief(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1_000_000:.0f} µs"
    return f"{seconds * 1000:.3g} ms"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
