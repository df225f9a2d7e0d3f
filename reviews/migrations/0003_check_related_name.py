"""The check of a review is called its current check; nothing in the database changes."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0002_triggers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="gatecheck",
            name="review",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="current_check",
                to="reviews.review",
                to_field="code",
            ),
        ),
    ]
