"""How long commands take to be read, and whole calls to be judged, in processor time."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from bench.figures import Figure, get_percentile
from bench.gates.calls import build_slow_calls, judge
from bench.gates.first_calls import measure_first_calls
from bench.gates.peer import Peer
from bench.yardstick import Timing, measure_slowness
from guidance.core.shell_commands import judge_command
from guidance.core.shell_commands.limits import MAX_CHARACTERS
from guidance.core.tools.calls import Call, CommandCall
from tests.guidance.core.held_out.cases import list_cases
from tests.guidance.core.shell_commands.corpus import sizes

KIB = 1024
MIB = 1024 * KIB
USUAL_LIMIT = 0.000_300
HEREDOC_LIMIT = 0.001_500
LONG_LIMIT = 0.020
ANY_LIMIT = 0.100
# Of which the best counts: other work on the machine only ever slows.
ROUNDS = 30
LONG_ROUNDS = 7
BOMB_ROUNDS = 3
# The peer takes minutes for longer ones.
PEER_BOMB_SIZE = 20 * KIB
BOMB_SIZES = (2 * KIB, 20 * KIB, 64 * KIB, 100 * KIB, MAX_CHARACTERS, MIB)

Judged = TypeVar("Judged")


def measure_speed(peer: Peer | None) -> Iterator[Figure]:
    bombs = {
        f"{name}, {size // KIB} KiB": text
        for size in BOMB_SIZES
        for name, text in sizes.bombs(size).items()
    }
    bombs |= sizes.FOUND_BY_FUZZING
    yield from _measure_reading(peer, bombs)
    yield from _measure_whole_calls(bombs)


def _measure_reading(peer: Peer | None, bombs: Mapping[str, str]) -> Iterator[Figure]:
    usual = sizes.usual(2 * KIB)
    took = _measure(judge_command, usual, rounds=ROUNDS)
    theirs = peer.measure(usual, rounds=ROUNDS) if peer else None
    yield _build_median("2 KiB, median of the kinds", took, theirs)
    yield _build_slowest("2 KiB, slowest kind", took, theirs)
    long = sizes.usual(100 * KIB)
    took = _measure(judge_command, long, rounds=LONG_ROUNDS)
    theirs = peer.measure(long, rounds=LONG_ROUNDS) if peer else None
    yield _build_slowest("100 KiB, slowest kind", took, theirs, limit=LONG_LIMIT)
    took = _measure(judge_command, bombs, rounds=BOMB_ROUNDS)
    yield _build_slowest(f"slowest of {len(bombs)} bombs", took, None, limit=ANY_LIMIT)
    if peer is not None:
        short = {
            name: text for name, text in bombs.items() if len(text) <= PEER_BOMB_SIZE
        }
        theirs = peer.measure(short, rounds=1)
        took = {name: took[name] for name in short}
        size = PEER_BOMB_SIZE // KIB
        yield _build_slowest(f"the same up to {size} KiB", took, theirs)


def _measure_whole_calls(bombs: Mapping[str, str]) -> Iterator[Figure]:
    """All gates of a call and the search for secrets, as the gateway asks for them."""
    took = _measure(judge, _build_commands(sizes.usual(2 * KIB)), rounds=ROUNDS)
    yield _build_median("a whole call, 2 KiB, median of the kinds", took, None)
    yield _build_slowest("a whole call, 2 KiB, slowest kind", took, None)
    yield _measure_heredocs()
    took = _measure(judge, _build_commands(sizes.usual(100 * KIB)), rounds=LONG_ROUNDS)
    yield _build_slowest(
        "a whole call, 100 KiB, slowest kind", took, None, limit=LONG_LIMIT
    )
    calls = {**_build_commands(bombs), **build_slow_calls()}
    took = _measure(judge, calls, rounds=BOMB_ROUNDS)
    what = f"a whole call, slowest of {len(calls)} bombs"
    yield _build_slowest(what, took, None, limit=ANY_LIMIT)
    first = measure_first_calls()
    what = f"the first call of a process, slowest of {len(first)} bombs"
    yield _build_slowest(what, first, None, limit=ANY_LIMIT)


def _measure_heredocs() -> Figure:
    """Held-out calls of honest agents with a here-document, by far the longest ones."""
    calls = {
        case.id: case.call
        for case in list_cases("honest")
        if isinstance(case.call, CommandCall) and "<<" in case.call.command
    }
    took = _measure(judge, calls, rounds=LONG_ROUNDS)
    return _build_figure(
        f"a whole call, {len(calls)} with here-documents, p99",
        _get_percentile(took, 0.99),
        HEREDOC_LIMIT,
        theirs=None,
    )


def _build_commands(texts: Mapping[str, str]) -> dict[str, Call]:
    return {
        name: CommandCall(tool="Bash", command=text) for name, text in texts.items()
    }


def _measure(
    judge: Callable[[Judged], object], judged: Mapping[str, Judged], *, rounds: int
) -> dict[str, Timing]:
    """The best of the rounds, without a collector that runs when it likes."""
    gc.disable()
    try:
        return {
            name: Timing(_measure_best(judge, each, rounds), measure_slowness())
            for name, each in judged.items()
        }
    finally:
        gc.enable()


def _measure_best(
    judge: Callable[[Judged], object], judged: Judged, rounds: int
) -> float:
    """Processor time: judging waits for nothing, and others may use the machine."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        judge(judged)
        best = min(best, time.process_time() - began)
    return best


def _build_median(
    what: str, took: Mapping[str, Timing], theirs: Mapping[str, float] | None
) -> Figure:
    return _build_figure(
        what,
        _get_percentile(took, 0.5),
        USUAL_LIMIT,
        theirs=get_percentile(sorted(theirs.values()), 0.5) if theirs else None,
    )


def _build_slowest(
    what: str,
    took: Mapping[str, Timing],
    theirs: Mapping[str, float] | None,
    *,
    limit: float | None = None,
) -> Figure:
    name = max(took, key=lambda each: took[each].adjusted)
    peer = max(theirs.values()) if theirs else None
    return _build_figure(f"{what} ({name})", took[name], limit, theirs=peer)


def _get_percentile(took: Mapping[str, Timing], part: float) -> Timing:
    adjusted = get_percentile([each.adjusted for each in took.values()], part)
    return next(each for each in took.values() if each.adjusted == adjusted)


def _build_figure(
    what: str, took: Timing, limit: float | None, *, theirs: float | None
) -> Figure:
    """The ratio is to the peer, and to the limit where there is no peer. The figure is as
    it was measured; a limit grows as the machine was slower than the reference."""
    seconds, slowness = took
    target = ""
    if limit is not None:
        limit *= slowness
        target = f"under {_format(limit)}"
    if slowness > 1.0 and limit is not None:
        target += f", for a machine {slowness:.2f} times as slow"
    compared_with, other = "", theirs if theirs is not None else limit
    if other is not None:
        compared_with = f"{'limit' if theirs is None else 'peer'} {_format(other)}"
    return Figure(
        label=what,
        figure=_format(seconds),
        compared_with=compared_with,
        ratio=None if other is None else seconds / other,
        target=target,
        met=None if limit is None else seconds < limit,
    )


def _format(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1_000_000:.0f} µs"
    return f"{seconds * 1000:.3g} ms"
