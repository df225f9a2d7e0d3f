"""What was learned: recommendations know their subject, decisions are found by day."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("loop", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="projectloop",
            name="learned_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="recommendation",
            name="evidence",
            field=models.TextField(
                default="null",
                help_text="JSON: the counted facts that it was learned from",
            ),
        ),
        migrations.AddField(
            model_name="recommendation",
            name="key",
            field=models.CharField(default="", max_length=200),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                fields=["project", "decided_at"], name="decision_of_day"
            ),
        ),
        migrations.AddConstraint(
            model_name="recommendation",
            constraint=models.UniqueConstraint(
                condition=models.Q(state__in=["pending", "drafted"])
                & ~models.Q(key=""),
                fields=("project", "key"),
                name="recommendation_open_once",
            ),
        ),
    ]
