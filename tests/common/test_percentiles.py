"""Percentiles are values that were there: the nearest rank, rounded up."""

from __future__ import annotations

from accounts.models import Agent, Project
from common.percentiles import Percentiles, read_percentiles

SHARES = (50, 90, 99)


def test_of_one_row_and_of_many(project: Project) -> None:
    """Groups of so many rows; the value of each is its place in the group."""
    Agent.objects.bulk_create(
        Agent(project=project, name=f"{place:03} of {count}", description=count)
        for count in (1, 2, 10, 101)
        for place in range(count, 0, -1)
    )
    rows = Agent.objects.filter(project=project).exclude(description="")
    groups = read_percentiles(rows, of="name", shares=SHARES, by="description")
    places = {1: (1, 1, 1), 2: (1, 2, 2), 10: (5, 9, 10), 101: (51, 91, 100)}
    assert groups == {
        str(count): Percentiles(
            count, tuple(f"{place:03} of {count}" for place in found)
        )
        for count, found in places.items()
    }


def test_of_all_rows_and_of_none(project: Project) -> None:
    rows = Agent.objects.filter(project=project)
    assert read_percentiles(rows, of="pk", shares=SHARES) == {}
    keys = [
        Agent.objects.create(project=project, name=f"agent {number}").pk
        for number in range(4)
    ]
    found = read_percentiles(rows, of="pk", shares=SHARES)
    assert found == {None: (4, (keys[1], keys[3], keys[3]))}
