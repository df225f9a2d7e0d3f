"""With which token a token was made. Of those from before it is not known."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_agent_keys")]

    operations = [
        migrations.AddField(
            model_name="personaltoken",
            name="parent",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="children",
                to="accounts.personaltoken",
            ),
        ),
    ]
