"""The held-out calls stand in the table, class by class, beside what the peer holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.gates.held_out import measure_held_out
from bench.gates.peer import Peer, Verdict
from tests.guidance.core.held_out.cases import SETS


class CatchesAll(Peer):
    def judge(self, commands: Sequence[str], *, rounds: int = 1) -> list[Verdict]:
        return [Verdict(caught=True, seconds=0.0) for _ in commands]


def test_every_set_has_its_share_its_target_and_where_it_can_read_the_peers() -> None:
    figures = {figure.label: figure for figure in measure_held_out(CatchesAll(Path()))}
    for name in SETS:
        figure = figures[f"held out, {name}"]
        assert "%" in figure.figure
        assert figure.target
    assert "held out, families: exfiltration" in figures
    assert figures["held out, accidents: cloud"].met is None
    assert figures["held out, accidents"].compared_with == "peer 100.0%"
    assert figures["held out, honest"].compared_with == "peer 100.0%"
    # It reads commands alone.
    assert figures["held out, honest-tools"].compared_with == ""
