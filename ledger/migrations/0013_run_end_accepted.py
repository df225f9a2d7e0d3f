"""Whether a run was accepted stands beside its figures, too (docs/adr/0030).

Lists are counted and filtered by it: to join runs with their outcomes for that took longer
than all other sums together. The database copies it, whichever of both rows comes first.
"""

from __future__ import annotations

from importlib import import_module

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

_ends = import_module("ledger.migrations.0007_run_ends_are_copied")
_EVENTS = ("INSERT", "UPDATE")
_ACCEPTED = "(SELECT accepted FROM ledger_runoutcome WHERE run_id = NEW.id)"
_FOLLOW = "UPDATE ledger_runend SET accepted = NEW.accepted WHERE run_id = NEW.run_id;"


def build_copy(vendor: str) -> str:
    """As before, and with it whether the run was accepted."""
    names = f"{_ends.NAMES}, accepted"
    values = f"{_ends.list_values('NEW.', vendor)}, {_ACCEPTED}"
    return (
        f"INSERT INTO ledger_runend ({names}) VALUES ({values}) "  # noqa: S608 (own names)
        f"ON CONFLICT (run_id) DO UPDATE SET {_ends.UPDATES}, "
        "accepted = excluded.accepted;"
    )


def copy_accepted(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    vendor = editor.connection.vendor
    _replace_copy(editor, build_copy(vendor))
    if vendor == "postgresql":
        editor.execute(
            "CREATE FUNCTION ledger_runend_accepted() RETURNS trigger LANGUAGE plpgsql "
            f"AS $$BEGIN {_FOLLOW} RETURN NULL; END$$"
        )
        editor.execute(
            "CREATE TRIGGER ledger_runend_accepted AFTER INSERT OR UPDATE ON "
            "ledger_runoutcome FOR EACH ROW EXECUTE FUNCTION ledger_runend_accepted()"
        )
    else:
        for event in _EVENTS:
            editor.execute(
                f"CREATE TRIGGER ledger_runend_accepted_{event.lower()} AFTER {event} "
                f"ON ledger_runoutcome BEGIN {_FOLLOW} END"
            )
    editor.execute(
        "UPDATE ledger_runend SET accepted = (SELECT accepted FROM ledger_runoutcome "
        "WHERE ledger_runoutcome.run_id = ledger_runend.run_id)"
    )


def stop_copying(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP TRIGGER ledger_runend_accepted ON ledger_runoutcome")
        editor.execute("DROP FUNCTION ledger_runend_accepted()")
    else:
        for event in _EVENTS:
            editor.execute(f"DROP TRIGGER ledger_runend_accepted_{event.lower()}")
    _replace_copy(editor, _ends.build_copy(editor.connection.vendor))


def _replace_copy(editor: BaseDatabaseSchemaEditor, copy: str) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "CREATE OR REPLACE FUNCTION ledger_runend_copy() RETURNS trigger "
            f"LANGUAGE plpgsql AS $$BEGIN {copy} RETURN NULL; END$$"
        )
        return
    for event in _EVENTS:
        editor.execute(f"DROP TRIGGER ledger_runend_{event.lower()}")
        editor.execute(
            f"CREATE TRIGGER ledger_runend_{event.lower()} AFTER {event} ON ledger_run "
            f"WHEN NEW.finished_at IS NOT NULL BEGIN {copy} END"
        )


class Migration(migrations.Migration):
    dependencies = (("ledger", "0012_count_what_paused"),)

    operations = (
        migrations.AddField(
            model_name="runend",
            name="accepted",
            field=models.BooleanField(null=True),
        ),
        migrations.RunPython(copy_accepted, stop_copying),
        migrations.AddIndex(
            model_name="runend",
            index=models.Index(
                fields=["project", "created_at", "run"], name="end_by_beginning"
            ),
        ),
    )
