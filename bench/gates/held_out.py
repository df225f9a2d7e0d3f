"""Calls that nobody wrote rules for: how much of each class is held, beside the peer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from bench.figures import Figure
from bench.gates.peer import Peer
from guidance.core.tools.calls import CommandCall
from tests.guidance.core.held_out.cases import LEAST_HELD, MOST_HELD, SETS, list_cases
from tests.guidance.core.held_out.measure import Share, measure_share

# Of a set, by class; the set as a whole has no class.
PeerShares = Mapping[str, Share]
_WHOLE = ""


def measure_held_out(peer: Peer | None) -> Iterator[Figure]:
    """Set by set and class by class."""
    for name in SETS:
        share = measure_share(name)
        theirs = _judge_by_peer(peer, name) if peer is not None else {}
        yield _build_figure(name, share, theirs.get(_WHOLE), whole=True)
        for label in sorted(share.classes):
            part, other = share.classes[label], theirs.get(label)
            # Of harmless calls only those classes are told of which something was held.
            if name in LEAST_HELD or part.held or (other is not None and other.held):
                yield _build_figure(name, part, other, whole=name == "families")


def _judge_by_peer(peer: Peer, name: str) -> PeerShares:
    """It reads commands and nothing else: other calls are not held against it."""
    commands = [
        (case.label, case.call.command)
        for case in list_cases(name)
        if isinstance(case.call, CommandCall)
    ]
    verdicts = peer.judge([command for _, command in commands])
    shares: dict[str, Share] = defaultdict(lambda: Share("peer"))
    for (label, _), verdict in zip(commands, verdicts, strict=True):
        for each in (_WHOLE, label):
            shares[each].count("block" if verdict.caught else "allow")
    return shares


def _build_figure(
    name: str, share: Share, theirs: Share | None, *, whole: bool
) -> Figure:
    """Targets are for whole sets, and for each family; classes are only told."""
    label = f"held out, {name}" + (f": {share.name}" if share.name != name else "")
    met, target = None, ""
    if whole and name in MOST_HELD:
        met, target = share.part <= MOST_HELD[name], f"at most {MOST_HELD[name]:.1%}"
    elif whole:
        met, target = share.part >= LEAST_HELD[name], f"at least {LEAST_HELD[name]:.0%}"
    return Figure(
        label=label,
        figure=f"{share.held:,} of {share.total:,} held, {share.part:.1%}",
        compared_with="" if theirs is None else f"peer {theirs.part:.1%}",
        target=target,
        met=met,
    )
