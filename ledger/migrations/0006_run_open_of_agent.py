"""How many runs an agent has open is counted by an index of those alone."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0005_refuse_replace")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status__in", ["running", "paused"])),
                fields=["agent"],
                name="run_open_of_agent",
            ),
        ),
    ]
