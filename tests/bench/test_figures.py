"""The table says which targets were met; it judges nothing else."""

from __future__ import annotations

from bench.figures import Figure, get_percentile, render_table


def test_the_table_says_what_was_met_and_what_was_not() -> None:
    lines = render_table(
        [
            Figure(label="steps", figure="900 a second", target="1,000", met=False),
            Figure(label="memory", figure="20 MB", ratio=0.2, target="100", met=True),
            Figure(label="p99", figure="4 ms"),
        ]
    ).splitlines()
    assert [line.split()[-1] for line in lines[2:]] == ["NO", "yes", "ms"]
    assert "0.20" in lines[3]


def test_a_share_is_one_of_the_values() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert get_percentile(values, 0.5) == 3.0
    assert get_percentile(values, 0.99) == 5.0
    assert get_percentile([7.0], 0.5) == 7.0
