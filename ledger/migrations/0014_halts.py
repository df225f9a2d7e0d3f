"""Halts, and the version that every change of a project's halts raises (docs/adr/0035)."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    dependencies = (
        ("accounts", "0010_invitation_token"),
        ("ledger", "0013_run_end_accepted"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    )

    operations = (
        migrations.AddField(
            model_name="projecthead",
            name="halts_version",
            field=models.IntegerField(db_default=0),
        ),
        migrations.CreateModel(
            name="Halt",
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
                ("label", models.CharField(default="", max_length=321)),
                ("children", models.BooleanField(default=False)),
                ("reason", models.TextField()),
                ("at", models.DateTimeField()),
                ("released_at", models.DateTimeField(null=True)),
                ("release_reason", models.TextField(default="")),
                ("deadlines_moved_at", models.DateTimeField(null=True)),
                (
                    "agent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.agent",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
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
                    "released_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="ledger.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("deadlines_moved_at__isnull", True)),
                        fields=["project"],
                        name="halt_unsettled",
                    ),
                    models.Index(fields=["project", "-id"], name="halt_newest"),
                ],
            },
        ),
    )
