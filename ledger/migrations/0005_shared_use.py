"""Trees of runs, and counters of what runs use up together."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Few rows that every commit changes: they are changed in place as long as there is room.
STORAGE = "fillfactor = 20, autovacuum_vacuum_scale_factor = 0.02"


def leave_room(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(f"ALTER TABLE ledger_shareduse SET ({STORAGE})")


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_run_running_time")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="lineage",
            field=models.CharField(default="", max_length=2_000),
        ),
        migrations.CreateModel(
            name="SharedUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("scope", models.CharField(max_length=8)),
                ("owner", models.BigIntegerField()),
                ("period", models.CharField(default="", max_length=10)),
                ("tokens", models.BigIntegerField(default=0)),
                ("tool_calls", models.BigIntegerField(default=0)),
                ("cost_micros", models.BigIntegerField(default=0)),
                ("tokens_extra", models.BigIntegerField(default=0)),
                ("tool_calls_extra", models.BigIntegerField(default=0)),
                ("cost_micros_extra", models.BigIntegerField(default=0)),
                ("tokens_noticed", models.PositiveSmallIntegerField(default=0)),
                ("tool_calls_noticed", models.PositiveSmallIntegerField(default=0)),
                ("cost_micros_noticed", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("scope", "owner", "period"), name="shared_use_once"
                    )
                ],
            },
        ),
        migrations.RunPython(leave_room, migrations.RunPython.noop),
    ]
