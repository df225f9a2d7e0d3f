"""The whole day, from an empty database to files."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from pathlib import Path

from common.responses import to_json
from config.access.operations import OPERATIONS
from config.api import api
from config.asgi import application
from config.database.prepared import create_prepared_schema
from config.health.watch import watch
from gateway.use_cases.outcomes import finish
from ledger.entry_types import list_entry_types
from tests.console.test_every_page import list_pages
from tests.golden.clock import Clock
from tests.golden.day import night, play_day
from tests.golden.entries import record_commands, record_deliveries, record_entries
from tests.golden.pages import record_pages
from tests.golden.stage import Stage, open_stage
from tests.golden.writing import mask, write_json
from tests.ledger.formats.test_both_formats import write_format_1
from tests.support.checked_answers import take_faults
from tests.support.live import serve
from webhooks.events import TEST_TYPE, TYPES


def perform(folder: Path, clock: Clock, *, entry_format: int) -> None:
    assert create_prepared_schema(), "The prepared schema is older than a migration."
    _hold_background()
    writing = write_format_1() if entry_format == 1 else nullcontext()
    missing: dict[str, list[str]] = {}
    if entry_format == 1:
        # Beside its entries, such a server wrote the rows of endings in that form.
        setattr(finish, "read_as_stored", lambda value: value)  # noqa: B010 (a module)
    with writing, serve(application) as live, open_stage(live, clock) as stage:
        play_day(stage)
        if entry_format == 2:
            missing["pages"] = _miss(list_pages(), record_pages(stage))
        night.play(stage)
        wrong = [*stage.wrong, *take_faults()]
        if wrong:
            raise RuntimeError("\n".join(wrong))
        types = record_entries(stage, entry_format)
        record_commands(stage, entry_format)
        missing[f"entries of format {entry_format}"] = _miss(list_entry_types(), types)
        if entry_format == 1:
            stage.files = {
                name: parts for name, parts in stage.files.items() if "format_1" in name
            }
        else:
            _record_rest(stage, missing)
    stage.files[f"missing_{entry_format}.json"] = [json.dumps(missing, indent=1)]
    _write_files(stage, folder)


def _hold_background() -> None:
    """Let nothing look at the clock between two requests: since when a part of the server is
    as it is follows from the first request that asks."""

    async def look_never() -> None:
        await asyncio.Event().wait()

    setattr(watch, "run_forever", look_never)  # noqa: B010 (a method)


def _record_rest(stage: Stage, missing: dict[str, list[str]]) -> None:
    missing["answers"] = _miss(OPERATIONS, stage.good)
    missing["refusals"] = _miss(OPERATIONS, stage.refused)
    missing["events"] = _miss([*TYPES, TEST_TYPE], record_deliveries(stage))
    files = stage.files
    files["answers/usual_headers.txt"] = [stage.list_usual_headers()]
    document = to_json(json.loads(json.dumps(api.get_openapi_schema())))
    files["openapi.json"] = [mask(write_json(document))]


def _miss(known: object, found: set[str]) -> list[str]:
    return sorted(set(known) - found)  # type: ignore[call-overload]


def _write_files(stage: Stage, folder: Path) -> None:
    for name, parts in stage.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(parts).rstrip("\n") + "\n", encoding="utf-8")
