"""What an earlier server has recorded stays whole: verified, judged again, exported.

The files in `fixtures/` were made once, by the server of commit 50890c1, from runs that
have an entry of every type there was. They are never made anew: a change that cannot read
them cannot read anybody's ledger.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from checkrail.verify import Broken, verify_lines
from django.apps import apps
from django.core.management import call_command
from django.core.serializers.python import Deserializer
from django.db import connection, transaction
from django.db.models import AutoField, Field, ForeignKey, Model
from pytest_django import Settings

from ledger.models import Entry, Run
from ledger.selectors import render_ledger_line

FIXTURES = Path(__file__).with_name("fixtures")
# Fingerprints were made with it; it has never been used for anything else.
SECRET_KEY = "the-secret-key-of-an-exported-ledger-that-signs-nothing-else"
# The rows stand apart from those of other tests.
OFFSET = 10**9
FILLS = (
    *("0017_fill_ruling_facts", "0021_fill_review_order", "0024_fill_review_alike"),
    "0038_regret_failed_calls",
)


def read_lines(name: str) -> list[str]:
    with gzip.open(FIXTURES / name, "rt", encoding="utf-8") as file:
        return list(file)


@cache
def list_exports() -> dict[str, list[str]]:
    """The lines that the old server exported, by run."""
    exports: dict[str, list[str]] = {}
    for line in read_lines("ledgers.ndjson.gz"):
        exports.setdefault(json.loads(line)["run"], []).append(line)
    return exports


def read_heads() -> dict[str, tuple[int, str]]:
    """The head of each run, as the old server named it when it verified the run."""
    verified = json.loads((FIXTURES / "verified.json").read_text())
    assert all(answer["ok"] for answer in verified.values())
    return {
        run: (answer["head"]["seq"], answer["head"]["hash"])
        for run, answer in verified.items()
    }


@pytest.fixture
def old_runs(database: None, settings: Settings) -> Iterator[list[Run]]:
    """The old rows in today's tables, until the test is over."""
    settings.SECRET_KEY = SECRET_KEY
    with transaction.atomic():
        rows = [build_row(json.loads(line)) for line in read_lines("rows.ndjson.gz")]
        for row in Deserializer(rows):
            row.object.save_base(raw=True, force_insert=True)
        # As the upgrade does: the old server kept less of rulings and reviews.
        for name in FILLS:
            import_module(f"reviews.migrations.{name}").fill(
                apps, SimpleNamespace(connection=connection)
            )
        runs = list(Run.objects.filter(pk__gt=OFFSET).order_by("pk"))
        assert {str(run.code) for run in runs} == list_exports().keys()
        yield runs
        transaction.set_rollback(True)


def build_row(row: dict[str, Any]) -> dict[str, Any]:
    """An old row as today's serializer knows it: a model may live in another app now."""
    name = row["model"].partition(".")[2]
    model = find_model(name)
    fields = {
        field: shift(model._meta.get_field(field), value)
        for field, value in row["fields"].items()
    }
    key = shift(model._meta.pk, row["pk"])
    if name == "review":
        # Filled in by the upgrade, before the column refuses a row without it.
        fields["answer_by"] = fields["due_at"]
    return {"model": model._meta.label_lower, "pk": key, "fields": fields}


@cache
def find_model(name: str) -> type[Model]:
    (found,) = (
        model
        for model in apps.get_models()
        if model._meta.model_name == name and not model.__module__.startswith("django.")
    )
    return found


def shift(field: Any, value: Any) -> Any:
    """Numbers that the database gave to rows are moved; codes stay as they are."""
    target: Field[Any, Any] = field
    while isinstance(target, ForeignKey):
        target = target.target_field
    return value + OFFSET if value and isinstance(target, AutoField) else value


def run_command(name: str, run: Run) -> str:
    said = StringIO()
    try:
        call_command(name, run=str(run.code), stdout=said, stderr=said)
    except SystemExit as end:
        raise AssertionError(
            f"{name} ended with {end.code}: {said.getvalue()}"
        ) from end
    return said.getvalue()


def test_there_is_an_entry_of_every_type() -> None:
    types = {json.loads(line)["type"] for line in read_lines("ledgers.ndjson.gz")}
    assert len(types) == 39, sorted(types)


def test_the_offline_verifier_holds_every_old_export_for_complete() -> None:
    heads = read_heads()
    assert heads.keys() == list_exports().keys()
    for run, lines in list_exports().items():
        result = verify_lines(lines, receipt=heads[run])
        assert result.complete, run
        assert (result.entries, result.head) == (len(lines), heads[run][1])


def test_the_offline_verifier_notices_a_change_of_an_old_export() -> None:
    lines = next(iter(list_exports().values()))
    changed = [line.replace("“naïve”", "“naive”") for line in lines]
    assert changed != lines
    with pytest.raises(Broken, match="entry 1: its payload was changed"):
        verify_lines(changed)


def test_every_old_chain_is_whole_and_so_are_the_rows_beside_it(
    old_runs: list[Run],
) -> None:
    for run in old_runs:
        said = run_command("ledger_verify", run)
        entries = len(list_exports()[str(run.code)])
        assert f"1 runs, {entries} entries, 0 broken" in said


def test_every_old_decision_comes_out_the_same(old_runs: list[Run]) -> None:
    for run in old_runs:
        assert "1 runs replayed, 0 different" in run_command("replay", run)


def test_old_runs_are_exported_as_before(old_runs: list[Run]) -> None:
    for run in old_runs:
        code = str(run.code)
        entries = Entry.objects.filter(run=run).order_by("seq")
        lines = [render_ledger_line(entry, run=code) for entry in entries]
        assert lines == list_exports()[code]
        assert (run.head_seq, run.head_hash) == read_heads()[code]
