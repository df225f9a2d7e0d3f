"""Rows that every step changes are changed in place: see docs/adr/0020."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Room for new versions beside the old ones, on the same page. A page holds a few runs,
# and the position of some twenty projects.
STORAGE = {
    "ledger_run": "fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02",
    "ledger_projecthead": "fillfactor = 10, autovacuum_vacuum_scale_factor = 0.02",
}
NAMES = "fillfactor, autovacuum_vacuum_scale_factor"


def leave_room(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        for table, settings in STORAGE.items():
            editor.execute(f"ALTER TABLE {table} SET ({settings})")


def fill_again(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        for table in STORAGE:
            editor.execute(f"ALTER TABLE {table} RESET ({NAMES})")


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_checkpoint_state_text")]

    operations = [
        migrations.RemoveIndex("run", "run_idle"),
        migrations.AddIndex(
            "run",
            models.Index(
                condition=models.Q(("status", "running")),
                fields=["created_at"],
                name="run_running",
            ),
        ),
        migrations.RunPython(leave_room, fill_again),
    ]
