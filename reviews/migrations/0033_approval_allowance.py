"""What one of several approvers would allow the run beforehand."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0032_threads_and_mentions")]

    operations = [
        migrations.AddField(
            model_name="reviewapproval",
            name="allowance",
            field=models.TextField(
                help_text="Canonical JSON: what the person would allow beforehand",
                null=True,
            ),
        ),
    ]
