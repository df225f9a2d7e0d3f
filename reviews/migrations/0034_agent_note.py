"""Notes that people write to a running agent."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0013_run_end_accepted"),
        ("reviews", "0033_approval_allowance"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentNote",
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
                ("code", models.UUIDField(default=common.ids.uuid7, unique=True)),
                ("text", models.TextField()),
                ("tags", models.TextField(default="[]", help_text="Canonical JSON")),
                ("at", models.DateTimeField()),
                ("delivered_at", models.DateTimeField(null=True)),
                (
                    "delivered_with",
                    models.CharField(
                        choices=[
                            ("step", "Step"),
                            ("call", "Call"),
                            ("decision", "Decision"),
                            ("turn", "Turn"),
                            ("acknowledgement", "Acknowledgement"),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                ("delivered_step", models.BigIntegerField(null=True)),
                ("delivered_for", models.UUIDField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="agent_notes",
                        to="ledger.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("read_at", None),
                            ("delivered_at__isnull", False),
                            _connector="OR",
                        ),
                        name="note_read_after_delivery",
                    )
                ],
            },
        ),
    ]
