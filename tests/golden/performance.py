"""The whole day, from an empty database to files."""

from __future__ import annotations

from pathlib import Path

from config.database.prepared import create_prepared_schema

from config.asgi import application
from tests.golden.clock import Clock
from tests.golden.day import play_day
from tests.golden.pages import record_pages
from tests.golden.stage import open_stage
from tests.support.checked_answers import take_faults
from tests.support.live import serve


def perform(folder: Path, clock: Clock, *, entry_format: int) -> None:
    assert create_prepared_schema(), "The prepared schema is older than a migration."
    with serve(application) as live, open_stage(live, clock) as stage:
        play_day(stage)
        if entry_format == 2:
            record_pages(stage)
    wrong = [*stage.wrong, *take_faults()]
    if wrong:
        raise RuntimeError("\n".join(wrong))
    stage.files["answers/usual_headers.txt"].append(stage.list_usual_headers())
    for name, parts in stage.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(parts), encoding="utf-8")
