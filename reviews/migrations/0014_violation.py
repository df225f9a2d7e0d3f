"""Rules that were broken in runs."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (
        ("accounts", "0003_agents_choose_policy"),
        ("ledger", "0003_run_outcome"),
        ("reviews", "0013_call_facts"),
    )

    operations = (
        migrations.CreateModel(
            name="Violation",
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
                (
                    "seq",
                    models.PositiveIntegerField(
                        help_text="Of its entry in the run's chain"
                    ),
                ),
                (
                    "place",
                    models.PositiveSmallIntegerField(
                        help_text="Among those of its entry"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("rule", models.CharField(max_length=200)),
                ("severity", models.CharField(max_length=16)),
                (
                    "source",
                    models.CharField(
                        choices=[("gate", "Gate"), ("agent", "Agent")], max_length=8
                    ),
                ),
                (
                    "gate",
                    models.CharField(
                        default="", help_text="That found it", max_length=32
                    ),
                ),
                ("decision", models.CharField(default="", max_length=24)),
                ("auto_corrected", models.BooleanField(default=False)),
                ("destructive", models.BooleanField(default=False)),
                (
                    "text",
                    models.CharField(
                        default="", help_text="What broke it", max_length=200
                    ),
                ),
                (
                    "call",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="violations",
                        to="reviews.toolcall",
                        to_field="code",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="violations",
                        to="ledger.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "at"], name="violation_by_time")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "seq", "place"), name="violation_once"
                    )
                ],
            },
        ),
    )
