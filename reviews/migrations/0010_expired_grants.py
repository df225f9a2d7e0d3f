"""A grant that was claimed too late is stored as expired."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0005_refuse_replace"),
        ("reviews", "0009_refuse_replace"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="grant",
            name="grant_end_has_time",
        ),
        migrations.AlterField(
            model_name="grant",
            name="state",
            field=models.CharField(
                choices=[
                    ("issued", "Issued"),
                    ("spent", "Spent"),
                    ("revoked", "Revoked"),
                    ("expired", "Expired"),
                ],
                default="issued",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="grant",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state", "issued")),
                    models.Q(
                        ("ended_at__isnull", False),
                        ("state__in", ["spent", "revoked", "expired"]),
                    ),
                    _connector="OR",
                ),
                name="grant_end_has_time",
            ),
        ),
    ]
