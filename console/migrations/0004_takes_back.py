"""Whether a ruling is held for a few seconds before it is sent."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("console", "0003_preferences")]

    operations = [
        migrations.AddField(
            model_name="preferences",
            name="takes_back",
            field=models.BooleanField(db_default=True, default=True),
        ),
    ]
