"""The sessions of coding agents and their tool uses."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("ledger", "0002_triggers_and_storage"),
        ("reviews", "0002_triggers"),
    ]

    operations = [
        migrations.CreateModel(
            name="HookSession",
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
                ("dialect", models.CharField(max_length=16)),
                ("session", models.CharField(max_length=200)),
                ("model", models.CharField(default="", max_length=200)),
                ("headless", models.BooleanField(default=False)),
                ("owed_tokens", models.BigIntegerField(default=0)),
                ("owed_cost_micros", models.BigIntegerField(default=0)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="accounts.agent"
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
        ),
        migrations.CreateModel(
            name="HookCall",
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
                ("tool_use", models.CharField(max_length=200)),
                (
                    "fingerprint",
                    models.CharField(
                        help_text="Of the tool and its input", max_length=64
                    ),
                ),
                (
                    "answer",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Nothing Yet"),
                            ("go", "Go"),
                            ("allow", "Allow"),
                            ("deny", "Deny"),
                            ("ask", "Asked at the terminal"),
                            ("defer", "Defer"),
                            ("left", "It hung up before there was an answer"),
                        ],
                        default="",
                        max_length=8,
                    ),
                ),
                (
                    "call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="reviews.toolcall",
                        to_field="code",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="gateway.hooksession",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="hooksession",
            constraint=models.UniqueConstraint(
                fields=("agent", "dialect", "session"), name="hook_session_once"
            ),
        ),
        migrations.AddIndex(
            model_name="hookcall",
            index=models.Index(
                fields=["session", "fingerprint"], name="hook_call_alike"
            ),
        ),
        migrations.AddConstraint(
            model_name="hookcall",
            constraint=models.UniqueConstraint(
                fields=("session", "tool_use"), name="hook_call_once"
            ),
        ),
    ]
