"""What another index begins with needs none of its own: every step is written into each.

The entries of a run and of a project are found by the keys that begin with them, as an
agent's idempotency keys are. Indexes are dropped by themselves: no row is touched, and the
triggers of `ledger_entry` stay. Records of keys are stored in the order of their time, so on
PostgreSQL a summary of each range of pages is enough to find the old ones.
"""

from __future__ import annotations

from collections.abc import Callable

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

INDEXES = (
    ("ledger_entry", "run_id", "ledger_entry_run_id_10d7aae4"),
    ("ledger_entry", "project_id", "ledger_entry_project_id_2d96c07b"),
    (
        "ledger_idempotencyrecord",
        "agent_id",
        "ledger_idempotencyrecord_agent_id_cee6abe3",
    ),
)

BY_TIME = "ledger_idempotencyrecord_created_at_fdce0d0d"


def index_by_time(method: str) -> Callable[[Apps, BaseDatabaseSchemaEditor], None]:
    def create(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        if editor.connection.vendor == "postgresql":
            editor.execute(f"DROP INDEX IF EXISTS {BY_TIME}")
            editor.execute(
                f"CREATE INDEX {BY_TIME} ON ledger_idempotencyrecord "
                f"USING {method} (created_at)"
            )

    return create


class Migration(migrations.Migration):
    dependencies = [("ledger", "0015_count_attention")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX IF EXISTS {name}",
                    f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({column})",
                )
                for table, column, name in INDEXES
            ],
            state_operations=[
                migrations.AlterField(
                    "entry",
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                migrations.AlterField(
                    "entry",
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="entries",
                        to="ledger.run",
                    ),
                ),
                migrations.AlterField(
                    "idempotencyrecord",
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        to="accounts.agent",
                    ),
                ),
            ],
        ),
        migrations.RunPython(index_by_time("brin"), index_by_time("btree")),
    ]
