"""Which runs a policy is for."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_agents_choose_policy"),
        ("guidance", "0004_newest_in_force"),
    ]

    operations = [
        migrations.CreateModel(
            name="PolicyAssignment",
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
                ("position", models.PositiveIntegerField()),
                ("agent", models.CharField(default="", max_length=120)),
                ("label", models.TextField(default="", help_text="name:value")),
                ("intent", models.CharField(default="", max_length=16)),
                ("model", models.CharField(default="", max_length=200)),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to="guidance.policy",
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
            options={
                "ordering": ("position",),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "position"),
                        name="policy_assignment_position_once",
                    )
                ],
            },
        ),
    ]
