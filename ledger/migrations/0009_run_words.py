"""Words by which runs are found, with the index of each database (docs/adr/0032)."""

from __future__ import annotations

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# SQLite's index reads the table and is told of every change by triggers, as its manual says.
TABLE, WORDS = "ledger_runwords", "ledger_runwords_index"
ADD = f"INSERT INTO {WORDS} (rowid, text) VALUES (NEW.run_id, NEW.text);"  # noqa: S608
TAKE = (
    f"INSERT INTO {WORDS} ({WORDS}, rowid, text) "  # noqa: S608
    "VALUES ('delete', OLD.run_id, OLD.text);"
)
TRIGGERS = {"INSERT": ADD, "DELETE": TAKE, "UPDATE": TAKE + ADD}


def create_index(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(
            f"CREATE INDEX {WORDS} ON {TABLE} USING gin "
            "(array_to_tsvector(string_to_array(text, ' ')))"
        )
        return
    editor.execute(
        f"CREATE VIRTUAL TABLE {WORDS} USING fts5(text, content='{TABLE}', "
        "content_rowid='run_id', tokenize='unicode61 remove_diacritics 0')"
    )
    for event, statements in TRIGGERS.items():
        editor.execute(
            f"CREATE TRIGGER {WORDS}_{event.lower()} AFTER {event} ON {TABLE} "
            f"BEGIN {statements} END"
        )


def drop_index(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(f"DROP INDEX {WORDS}")
        return
    for event in TRIGGERS:
        editor.execute(f"DROP TRIGGER {WORDS}_{event.lower()}")
    editor.execute(f"DROP TABLE {WORDS}")


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_agents_choose_policy"),
        ("ledger", "0008_statistics"),
    ]

    operations = [
        migrations.CreateModel(
            name="RunWords",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="words",
                        serialize=False,
                        to="ledger.run",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                ("text", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="WordsIndexed",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="accounts.project",
                    ),
                ),
                ("position", models.BigIntegerField(default=0)),
                ("newest_run", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.RunPython(create_index, drop_index),
    ]
