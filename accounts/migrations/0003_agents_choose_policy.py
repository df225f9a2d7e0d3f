"""Whether a project's agents may name the policy of their runs."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_agent_owner")]

    operations = [
        migrations.AddField(
            model_name="project",
            name="agents_choose_policy",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
