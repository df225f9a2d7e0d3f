"""What an agent is for and whether it may work; what a key may do, and who made it."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

ALL_SCOPES = "runs:write loop:write evaluate"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_people")]

    operations = [
        migrations.AddField(
            model_name="agent",
            name="description",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=400
            ),
        ),
        migrations.AddField(
            model_name="agent",
            name="disabled_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="agentkey",
            name="scopes",
            field=models.CharField(
                db_default=ALL_SCOPES, default=ALL_SCOPES, max_length=120
            ),
        ),
        migrations.AddField(
            model_name="agentkey",
            name="created_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
