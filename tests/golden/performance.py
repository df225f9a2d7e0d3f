"""The whole day, from an empty database to files."""

from __future__ import annotations

from pathlib import Path

from django.core.management import call_command

from config.asgi import application
from tests.golden.clock import Clock
from tests.golden.day import play_day
from tests.golden.stage import open_stage
from tests.support.checked_answers import take_faults
from tests.support.live import serve


def perform(folder: Path, clock: Clock, *, entry_format: int) -> None:
    call_command("migrate", verbosity=0, interactive=False)
    with serve(application) as live, open_stage(live, clock) as stage:
        play_day(stage)
    assert take_faults() == []
    stage.files["answers/usual_headers.txt"].append(stage.list_usual_headers())
    for name, parts in stage.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(parts), encoding="utf-8")
