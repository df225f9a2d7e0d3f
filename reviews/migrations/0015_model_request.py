"""What the server asked a model on behalf of a run, and what that cost."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (
        ("accounts", "0001_initial"),
        ("ledger", "0002_triggers_and_storage"),
        ("reviews", "0014_violation"),
    )

    operations = (
        migrations.CreateModel(
            name="ModelRequest",
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
                ("seq", models.PositiveIntegerField(null=True)),
                ("purpose", models.CharField(max_length=16)),
                ("model", models.CharField(max_length=200)),
                ("tokens_in", models.BigIntegerField()),
                ("tokens_out", models.BigIntegerField()),
                ("cost_micros", models.BigIntegerField(null=True)),
                ("at", models.DateTimeField()),
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
                        related_name="model_requests",
                        to="ledger.run",
                    ),
                ),
            ],
            options={
                "indexes": (
                    models.Index(fields=["project", "at"], name="model_request_day"),
                ),
            },
        ),
    )
