"""The time that a run has spent running, by the server's clock, and when it is over.

Runs of before keep no such time: their columns stay null, and they are not judged by it.
"""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_run_outcome")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="running_ms",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="running_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="time_over_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status", "running")),
                fields=["time_over_at"],
                name="run_time_over",
            ),
        ),
    ]
