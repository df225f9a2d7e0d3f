"""Searches for what the stored history of a policy suggests."""

from __future__ import annotations

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_agents_choose_policy"),
        ("reviews", "0008_policy_shadow"),
    ]

    operations = [
        migrations.CreateModel(
            name="SuggestionSearch",
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
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("finished", "Finished"),
                            ("cancelled", "Cancelled"),
                            ("failed", "Failed"),
                        ],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                (
                    "reason",
                    models.TextField(default="", help_text="Why it failed, in words"),
                ),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("total", models.PositiveBigIntegerField(default=0)),
                (
                    "result",
                    models.TextField(
                        default="{}", help_text="What was counted so far, JSON"
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("worker", models.UUIDField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now()
                    ),
                ),
                ("started_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("policy", models.CharField(max_length=64)),
                ("version", models.PositiveIntegerField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "policy", "-id"], name="suggestion_by_policy"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "waiting",
                                    "running",
                                    "finished",
                                    "cancelled",
                                    "failed",
                                ],
                            )
                        ),
                        name="suggestion_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["waiting", "running"])),
                        fields=("project", "policy"),
                        name="suggestion_one_unended",
                    ),
                ],
            },
        ),
    ]
