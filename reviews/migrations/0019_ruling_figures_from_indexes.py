"""Figures of rulings are read from indexes alone, without the rows."""

from __future__ import annotations

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_token_parents"),
        ("ledger", "0010_project_verification"),
        ("reviews", "0018_statistics"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="rulingfact",
            name="ruling_fact_time",
        ),
        migrations.RemoveIndex(
            model_name="rulingfact",
            name="ruling_fact_by",
        ),
        migrations.RemoveIndex(
            model_name="rulingfact",
            name="ruling_fact_severity",
        ),
        migrations.AddIndex(
            model_name="rulingfact",
            index=models.Index(
                fields=["project", "at", "id", "took_ms"], name="ruling_fact_times"
            ),
        ),
        migrations.AddIndex(
            model_name="rulingfact",
            index=models.Index(
                fields=["project", "by", "at", "id", "took_ms", "action", "regretted"],
                name="ruling_fact_person",
            ),
        ),
        migrations.AddIndex(
            model_name="rulingfact",
            index=models.Index(
                fields=["project", "severity", "at", "id", "took_ms"],
                name="ruling_fact_severities",
            ),
        ),
    ]
