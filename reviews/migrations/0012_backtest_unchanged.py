"""A backtest also lists the decisions that come out the same."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("reviews", "0011_policy_shadow_tool"),)

    operations = (
        migrations.CreateModel(
            name="BacktestUnchanged",
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
                ("kind", models.CharField(max_length=16)),
                ("decision", models.CharField(max_length=32)),
                ("count", models.PositiveIntegerField()),
                (
                    "places",
                    models.TextField(
                        help_text="JSON: runs, and the numbers of their entries"
                    ),
                ),
                (
                    "backtest",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="unchanged",
                        to="reviews.backtest",
                    ),
                ),
            ],
        ),
    )
