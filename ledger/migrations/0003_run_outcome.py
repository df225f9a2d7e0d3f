"""How runs were judged when they finished."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (
        ("accounts", "0003_agents_choose_policy"),
        ("ledger", "0002_triggers_and_storage"),
    )

    operations = (
        migrations.CreateModel(
            name="RunOutcome",
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
                ("at", models.DateTimeField()),
                ("accepted", models.BooleanField(null=True)),
                (
                    "evaluations",
                    models.TextField(help_text="What each evaluator said, JSON"),
                ),
                ("lines_added", models.PositiveBigIntegerField()),
                ("lines_removed", models.PositiveBigIntegerField()),
                ("files_changed", models.PositiveBigIntegerField()),
                ("rework_lines", models.PositiveBigIntegerField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="outcome",
                        to="ledger.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "at"], name="outcome_by_time"),
                    models.Index(
                        condition=models.Q(("accepted", False)),
                        fields=["project", "-run"],
                        name="outcome_not_accepted",
                    ),
                ],
            },
        ),
    )
