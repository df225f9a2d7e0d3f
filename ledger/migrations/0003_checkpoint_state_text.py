"""A checkpoint's state is kept as the text it came in."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_append_only")]

    operations = [
        migrations.AlterField(
            model_name="checkpoint",
            name="state",
            field=models.TextField(
                default="{}", help_text="JSON, as the agent sent it"
            ),
        ),
    ]
