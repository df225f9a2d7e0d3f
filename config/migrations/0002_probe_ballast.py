"""Room for what the probe of writes puts there for a moment."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("config", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="heartbeat",
            name="ballast",
            field=models.TextField(default="", help_text="Tells whether there is room"),
        ),
    ]
