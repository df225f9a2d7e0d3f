"""Indexes of the run list, and the figures of runs that are over."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


def copy_of(name: str) -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False, on_delete=django.db.models.deletion.PROTECT, to=name
    )


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_agents_choose_policy"),
        ("guidance", "0001_initial"),
        ("ledger", "0005_shared_use"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["project", "-created_at", "-id"], name="run_by_beginning"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["agent", "-created_at", "-id"], name="run_by_agent"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["project", "model", "-created_at", "-id"], name="run_by_model"
            ),
        ),
        migrations.AddIndex(
            model_name="runoutcome",
            index=models.Index(
                fields=["project", "run", "accepted"], name="outcome_by_run"
            ),
        ),
        migrations.CreateModel(
            name="RunEnd",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="end",
                        serialize=False,
                        to="ledger.run",
                    ),
                ),
                ("project", copy_of("accounts.project")),
                ("agent", copy_of("accounts.agent")),
                ("policy", copy_of("guidance.policyversion")),
                ("status", models.CharField(max_length=16)),
                ("intent", models.CharField(max_length=16)),
                ("model", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField()),
                ("steps", models.PositiveIntegerField()),
                ("tokens", models.BigIntegerField()),
                ("cost_micros", models.BigIntegerField()),
                ("time_ms", models.BigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "cost_micros", "run"], name="end_by_cost"
                    ),
                    models.Index(
                        fields=["project", "tokens", "run"], name="end_by_tokens"
                    ),
                    models.Index(
                        fields=["project", "steps", "run"], name="end_by_steps"
                    ),
                    models.Index(
                        fields=["project", "time_ms", "run"], name="end_by_time"
                    ),
                ],
            },
        ),
    ]
