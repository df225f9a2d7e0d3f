"""When an agent was last seen waiting for a review."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0010_expired_grants")]

    operations = [
        migrations.CreateModel(
            name="AgentWait",
            fields=[
                (
                    "review",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="agent_wait",
                        serialize=False,
                        to="reviews.review",
                    ),
                ),
                ("seen_at", models.DateTimeField()),
            ],
        ),
    ]
