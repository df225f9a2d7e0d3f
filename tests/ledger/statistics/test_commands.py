"""manage.py statistics_verify says what differs; statistics_rebuild mends it."""

from __future__ import annotations

from io import StringIO
from itertools import count

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from accounts.models import Project
from ledger.models import PeriodCount, PeriodTotals
from ledger.statistics import recount
from ledger.statistics.counting import count_project
from tests.support.builders import start_run, step


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
