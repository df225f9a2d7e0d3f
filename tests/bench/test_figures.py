"""The table says which targets were met; it judges nothing else."""

from __future__ import annotations

from bench.figures import Figure, share, table


def test_the_table_says_what_was_met_and_what_was_not() -> None:
    lines = table(
        [
            Figure(what="steps", figure="900 a second", target="1,000", met=False),
            Figure(what="memory", figure="20 MB", ratio=0.2, target="100", met=True),
            Figure(what="p99", figure="4 ms"),
        ]
    ).splitlines()
    assert [line.split()[-1] for line in lines[2:]] == ["NO", "yes", "ms"]
    assert "0.20" in lines[3]


def test_a_share_is_one_of_the_values() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert share(values, 0.5) == 3.0
    assert share(values, 0.99) == 5.0
    assert share([7.0], 0.5) == 7.0
