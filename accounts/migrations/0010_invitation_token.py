"""With which token an invitation was made. Of those from before it is not known."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_project_retention")]

    operations = [
        migrations.AddField(
            model_name="invitation",
            name="token",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="invitations",
                to="accounts.personaltoken",
            ),
        ),
    ]
