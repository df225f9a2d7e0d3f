"""What lists and figures of rulings are read from; 0017 fills it."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_agents_choose_policy"),
        ("ledger", "0005_shared_use"),
        ("reviews", "0015_model_request"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="RulingFact",
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
                ("at", models.DateTimeField()),
                ("action", models.CharField(max_length=16)),
                ("kind", models.CharField(max_length=16)),
                ("severity", models.CharField(max_length=16)),
                ("rule", models.CharField(max_length=200)),
                ("rules", models.TextField()),
                ("text", models.TextField()),
                ("took_ms", models.BigIntegerField()),
                ("regretted", models.BooleanField(default=False)),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.agent",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                (
                    "ruling",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="fact",
                        to="reviews.ruling",
                        to_field="code",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ruling_facts",
                        to="ledger.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "at", "id"], name="ruling_fact_time"
                    ),
                    models.Index(
                        fields=["project", "took_ms", "id"], name="ruling_fact_took"
                    ),
                    models.Index(
                        fields=["project", "by", "at", "id"], name="ruling_fact_by"
                    ),
                    models.Index(
                        fields=["project", "agent", "at", "id"],
                        name="ruling_fact_agent",
                    ),
                    models.Index(
                        fields=["project", "at", "rule"],
                        name="ruling_fact_rules_of_time",
                    ),
                    models.Index(
                        fields=["project", "action", "at", "id"],
                        name="ruling_fact_action",
                    ),
                    models.Index(
                        fields=["project", "kind", "at", "id"], name="ruling_fact_kind"
                    ),
                    models.Index(
                        fields=["project", "severity", "at", "id"],
                        name="ruling_fact_severity",
                    ),
                    models.Index(
                        condition=models.Q(("regretted", True)),
                        fields=["project", "at", "id"],
                        name="ruling_fact_regretted",
                    ),
                ],
            },
        ),
    ]
