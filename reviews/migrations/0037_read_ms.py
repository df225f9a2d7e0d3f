"""Since when a person has had a review open, and for how long before ruling."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0036_sealed_look"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="rulingfact",
            name="ruling_fact_person",
        ),
        migrations.AddField(
            model_name="reading",
            name="shown_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="rulingfact",
            name="read_ms",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="rulingfact",
            index=models.Index(
                fields=[
                    "project",
                    "by",
                    "at",
                    "id",
                    "took_ms",
                    "read_ms",
                    "action",
                    "regretted",
                ],
                name="ruling_fact_read_by",
            ),
        ),
    ]
