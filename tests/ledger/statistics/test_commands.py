"""manage.py statistics_verify says what differs; statistics_rebuild mends it."""

from __future__ import annotations

from io import StringIO
from itertools import count
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from accounts.models import Project
from ledger.models import PeriodCount, PeriodTotals, StatisticsCursor
from ledger.statistics import recount
from ledger.statistics.counting import count_project
from ledger.statistics.slices import Key
from tests.conftest import client_for
from tests.support.builders import make_project, make_robot, start_run, step
from tests.support.live import Live


def verify(project: Project) -> tuple[int, str, str]:
    out, error = StringIO(), StringIO()
    try:
        call_command(
            "statistics_verify", project=project.slug, stdout=out, stderr=error
        )
    except SystemExit as ended:
        return int(str(ended.code)), out.getvalue(), error.getvalue()
    return 0, out.getvalue(), error.getvalue()


def test_a_wrong_figure_is_named_and_counted_anew(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent, labels={"repo": "shop"})
    agent.post(f"/runs/{run}/steps", json=step(1, uncertainty=0.95))
    count_project(project_id=project.pk)
    code, said, _ = verify(project)
    assert (code, said) == (
        0,
        f"{project.slug}: 3 entries recounted, 0 figures different\n",
    )

    rows = PeriodTotals.objects.filter(project=project, interval="day", label_name="")
    rows.update(steps=F("steps") + 4)
    PeriodCount.objects.filter(
        project=project, interval="hour", label_name="", kind="finding"
    ).delete()
    code, said, differences = verify(project)
    assert code == 1
    assert "steps is 5, the ledger says 1" in differences
    assert "agent robo, intent general, policy default@1" in differences
    assert "finding uncertainty is 0, the ledger says 1" in differences
    assert "statistics_rebuild" in differences

    out = StringIO()
    call_command("statistics_rebuild", project=project.slug, stdout=out)
    assert out.getvalue() == f"{project.slug}: 3 entries counted\n"
    assert verify(project)[0] == 0


@pytest.mark.usefixtures("database")
def test_a_project_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="There is no project nowhere"):
        call_command("statistics_verify", project="nowhere")


def test_figures_that_move_while_they_are_read_are_read_again(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody counts between the look at the position and the look at the figures."""
    start_run(agent)
    get_position, looks = recount._get_position, []

    def look_and_count(project_id: int) -> int:
        position = get_position(project_id)
        looks.append(position)
        if len(looks) == 1:
            count_project(project_id=project_id)
        return position

    monkeypatch.setattr(recount, "_get_position", look_and_count)
    assert recount.list_differences(project_id=project.pk) == []
    assert looks == [0, 1, 1, 1]


def test_figures_that_never_stand_still_are_not_compared(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = count()
    monkeypatch.setattr(recount, "_get_position", lambda _: next(positions))
    with pytest.raises(recount.StatisticsBusy):
        recount.list_differences(project_id=project.pk)


def test_a_figure_that_the_ledger_does_not_have_is_named(
    agent: httpx.Client, project: Project
) -> None:
    start_run(agent)
    count_project(project_id=project.pk)
    rows = PeriodTotals.objects.filter(project=project, interval="hour")
    row: dict[str, Any] = {**rows.values().get()}
    kept = {name: row[name] for name in Key._fields if name != "policy"}
    gone = {"project": project, **kept, "policy": "gone@1"}
    PeriodTotals.objects.create(**gone, steps=3)
    PeriodCount.objects.create(**gone, kind="finding", key="rework", count=7)
    code, _, differences = verify(project)
    assert code == 1
    of_row = [line for line in differences.splitlines() if "policy gone@1" in line]
    assert [line.partition("gone@1: ")[2] for line in of_row] == [
        "finding rework is 7, the ledger says 0",
        "steps is 3, the ledger says 0",
    ]
    assert all(f"hour {row['at']:%Y-%m-%d %H}:00 UTC" in line for line in of_row)


def test_what_is_missing_is_named_and_days_by_their_date(
    agent: httpx.Client, project: Project
) -> None:
    start_run(agent)
    count_project(project_id=project.pk)
    row = PeriodTotals.objects.get(project=project, interval="day")
    row.delete()
    assert f"day {row.at:%Y-%m-%d}, agent robo" in verify(project)[2]
    assert "runs_started is 0, the ledger says 1" in verify(project)[2]


def test_counting_a_project_anew_leaves_the_others_as_they_are(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    other = make_project()
    with client_for(live, make_robot(project=other)) as stranger:
        start_run(stranger)
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, uncertainty=0.95))
    count_project(project_id=project.pk)

    def read_all() -> list[list[dict[str, object]]]:
        return [
            [*model.objects.filter(project=project).order_by("pk").values()]
            for model in (PeriodTotals, PeriodCount, StatisticsCursor)
        ]

    before = read_all()
    assert all(before)
    recount.rebuild_statistics(project_id=other.pk)
    assert read_all() == before
