"""Figures of hours and days, counted from the ledger by a task, and what they are read by."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_agents_choose_policy"),
        ("guidance", "0006_agents_chose_before"),
        ("ledger", "0007_run_ends_are_copied"),
    ]

    operations = [
        migrations.CreateModel(
            name="PeriodCount",
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
                    "interval",
                    models.CharField(
                        choices=[("hour", "Hour"), ("day", "Day")], max_length=4
                    ),
                ),
                (
                    "at",
                    models.DateTimeField(help_text="When the hour or the day begins"),
                ),
                ("model", models.CharField(default="", max_length=200)),
                ("intent", models.CharField(max_length=16)),
                (
                    "policy",
                    models.CharField(help_text="Such as default@3", max_length=80),
                ),
                ("label_name", models.CharField(default="", max_length=64)),
                ("label_value", models.CharField(default="", max_length=256)),
                ("kind", models.CharField(max_length=24)),
                ("key", models.CharField(max_length=200)),
                ("count", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="PeriodTotals",
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
                    "interval",
                    models.CharField(
                        choices=[("hour", "Hour"), ("day", "Day")], max_length=4
                    ),
                ),
                (
                    "at",
                    models.DateTimeField(help_text="When the hour or the day begins"),
                ),
                ("model", models.CharField(default="", max_length=200)),
                ("intent", models.CharField(max_length=16)),
                (
                    "policy",
                    models.CharField(help_text="Such as default@3", max_length=80),
                ),
                ("label_name", models.CharField(default="", max_length=64)),
                ("label_value", models.CharField(default="", max_length=256)),
                ("runs_started", models.BigIntegerField(default=0)),
                ("runs_completed", models.BigIntegerField(default=0)),
                ("runs_failed", models.BigIntegerField(default=0)),
                ("runs_aborted", models.BigIntegerField(default=0)),
                ("runs_abandoned", models.BigIntegerField(default=0)),
                ("runs_stopped", models.BigIntegerField(default=0)),
                ("runs_reopened", models.BigIntegerField(default=0)),
                ("runs_accepted", models.BigIntegerField(default=0)),
                ("runs_not_accepted", models.BigIntegerField(default=0)),
                ("steps", models.BigIntegerField(default=0)),
                ("steps_continue", models.BigIntegerField(default=0)),
                ("steps_checkpoint", models.BigIntegerField(default=0)),
                ("steps_throttle", models.BigIntegerField(default=0)),
                ("steps_pause", models.BigIntegerField(default=0)),
                ("steps_stop", models.BigIntegerField(default=0)),
                ("steps_rework", models.BigIntegerField(default=0)),
                ("calls_allow", models.BigIntegerField(default=0)),
                ("calls_warn", models.BigIntegerField(default=0)),
                ("calls_require_confirmation", models.BigIntegerField(default=0)),
                ("calls_block", models.BigIntegerField(default=0)),
                ("tokens", models.BigIntegerField(default=0)),
                ("tool_calls", models.BigIntegerField(default=0)),
                ("cost_micros", models.BigIntegerField(default=0)),
                ("slope_micros", models.BigIntegerField(default=0)),
                ("slope_count", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="StatisticsCursor",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="statistics_cursor",
                        serialize=False,
                        to="accounts.project",
                    ),
                ),
                ("position", models.BigIntegerField(default=0)),
                ("at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddIndex(
            model_name="entry",
            index=models.Index(
                condition=models.Q(("type", "run.policy_changed")),
                fields=["run", "position"],
                name="entry_policy_moves",
            ),
        ),
        migrations.AddField(
            model_name="periodcount",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.agent",
            ),
        ),
        migrations.AddField(
            model_name="periodcount",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.project",
            ),
        ),
        migrations.AddField(
            model_name="periodtotals",
            name="agent",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.agent",
            ),
        ),
        migrations.AddField(
            model_name="periodtotals",
            name="project",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="accounts.project",
            ),
        ),
        migrations.AddConstraint(
            model_name="periodcount",
            constraint=models.UniqueConstraint(
                fields=(
                    "project",
                    "interval",
                    "label_name",
                    "kind",
                    "at",
                    "label_value",
                    "agent",
                    "model",
                    "intent",
                    "policy",
                    "key",
                ),
                name="period_count_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="periodtotals",
            constraint=models.UniqueConstraint(
                fields=(
                    "project",
                    "interval",
                    "label_name",
                    "at",
                    "label_value",
                    "agent",
                    "model",
                    "intent",
                    "policy",
                ),
                name="period_totals_once",
            ),
        ),
    ]
