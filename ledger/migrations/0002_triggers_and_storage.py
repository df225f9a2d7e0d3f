"""ledger_entry can only grow, and rows that every step changes are changed in place.

The database refuses anything else to an entry. For the storage see docs/adr/0020.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from common.append_only import append_only

# Room for new versions beside the old ones, on the same page. A page holds a few runs,
# and the position of some twenty projects.
STORAGE = {
    "ledger_run": "fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02",
    "ledger_projecthead": "fillfactor = 10, autovacuum_vacuum_scale_factor = 0.02",
}
NAMES = "fillfactor, autovacuum_vacuum_scale_factor"


def set_storage(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        for table, parameters in STORAGE.items():
            editor.execute(f"ALTER TABLE {table} SET ({parameters})")


def reset_storage(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        for table in STORAGE:
            editor.execute(f"ALTER TABLE {table} RESET ({NAMES})")


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]

    operations = [
        append_only("ledger_entry"),
        migrations.RunPython(set_storage, reset_storage),
    ]
