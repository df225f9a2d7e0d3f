"""For how long a project lists exports of its ledger. Until it says so, for ever."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_agent_limits")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="retention_days",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
    ]
