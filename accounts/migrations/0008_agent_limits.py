"""What all runs of an agent may use in a day. Agents from before have no such limits."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_token_parents")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name=f"{part}_limit",
            field=models.BigIntegerField(blank=True, null=True),
        )
        for part in ("tokens", "tool_calls", "cost_micros")
    ]
