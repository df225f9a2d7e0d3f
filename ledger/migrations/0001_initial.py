"""Runs and what happened in them."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("guidance", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProjectHead",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="head",
                        serialize=False,
                        to="accounts.project",
                    ),
                ),
                ("position", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="Run",
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
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("task", models.TextField()),
                ("intent", models.CharField(max_length=16)),
                ("model", models.CharField(default="", max_length=200)),
                ("labels", models.JSONField(default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("paused", "Paused"),
                            ("stopped", "Stopped"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                            ("aborted", "Aborted"),
                            ("abandoned", "Abandoned"),
                        ],
                        max_length=16,
                    ),
                ),
                ("status_reason", models.TextField(default="")),
                ("tokens_limit", models.BigIntegerField(null=True)),
                ("tool_calls_limit", models.BigIntegerField(null=True)),
                ("time_ms_limit", models.BigIntegerField(null=True)),
                ("cost_micros_limit", models.BigIntegerField(null=True)),
                ("tokens_used", models.BigIntegerField(default=0)),
                ("tool_calls_used", models.BigIntegerField(default=0)),
                ("time_ms_used", models.BigIntegerField(default=0)),
                ("cost_micros_used", models.BigIntegerField(default=0)),
                ("steps", models.PositiveIntegerField(default=0)),
                ("rework_steps", models.PositiveIntegerField(default=0)),
                ("last_step", models.PositiveIntegerField(default=0)),
                ("last_checkpoint_step", models.PositiveIntegerField(default=0)),
                ("last_decision", models.CharField(default="", max_length=16)),
                (
                    "memory",
                    models.TextField(
                        default="{}", help_text="What the gates remember, JSON"
                    ),
                ),
                (
                    "open_reviews",
                    models.TextField(default="[]", help_text="Open reviews, JSON"),
                ),
                ("head_seq", models.PositiveIntegerField(default=0)),
                (
                    "head_hash",
                    models.CharField(
                        default="0000000000000000000000000000000000000000000000000000000000000000",
                        max_length=64,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="accounts.agent"
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="ledger.run",
                    ),
                ),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="guidance.policyversion",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Entry",
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
                    "version",
                    models.PositiveSmallIntegerField(help_text="Format of the hash"),
                ),
                ("seq", models.PositiveIntegerField()),
                ("position", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                ("type", models.CharField(max_length=32)),
                ("actor", models.CharField(max_length=64)),
                (
                    "payload",
                    models.TextField(help_text="Canonical JSON, hashed as stored"),
                ),
                ("payload_sha256", models.CharField(max_length=64)),
                ("prev_hash", models.CharField(max_length=64)),
                ("hash", models.CharField(max_length=64)),
                ("step_number", models.PositiveIntegerField(null=True)),
                ("decision", models.CharField(default="", max_length=16)),
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
                        related_name="entries",
                        to="ledger.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Checkpoint",
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
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("step", models.PositiveIntegerField()),
                ("label", models.CharField(default="", max_length=200)),
                (
                    "state",
                    models.TextField(
                        default="{}", help_text="JSON, as the agent sent it"
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="checkpoints",
                        to="ledger.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="IdempotencyRecord",
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
                ("key", models.CharField(max_length=255)),
                ("fingerprint", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField()),
                ("body", models.TextField()),
                ("created_at", models.DateTimeField(db_index=True)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="accounts.agent"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("agent", "key"), name="idempotency_once"
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["project", "-id"], name="run_by_project"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                fields=["project", "status", "-id"], name="run_by_status"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status__in", ["running", "paused"])),
                fields=["agent"],
                name="run_open_of_agent",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status", "running")),
                fields=["created_at"],
                name="run_running",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "status__in",
                        [
                            "running",
                            "paused",
                            "stopped",
                            "completed",
                            "failed",
                            "aborted",
                            "abandoned",
                        ],
                    )
                ),
                name="run_status_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("finished_at__isnull", False),
                        (
                            "status__in",
                            ["abandoned", "aborted", "completed", "failed"],
                        ),
                    ),
                    models.Q(
                        models.Q(
                            (
                                "status__in",
                                ["abandoned", "aborted", "completed", "failed"],
                            ),
                            _negated=True,
                        ),
                        ("finished_at__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="run_final_has_finished_at",
            ),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(
                fields=("run", "seq"), name="entry_seq_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(
                fields=("run", "prev_hash"), name="entry_no_fork"
            ),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(
                fields=("project", "position"), name="entry_position_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="entry",
            constraint=models.UniqueConstraint(
                condition=models.Q(("step_number__isnull", False)),
                fields=("run", "step_number"),
                name="entry_step_once",
            ),
        ),
        migrations.AddIndex(
            model_name="checkpoint",
            index=models.Index(fields=["run", "-id"], name="checkpoint_newest"),
        ),
    ]
