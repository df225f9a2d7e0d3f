"""Which reviews are alike, and how the same was ruled before."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0022_review_order_indexes")]

    operations = [
        migrations.AddField(
            model_name="review",
            name="alike_key",
            field=models.CharField(
                default="",
                help_text="Equal where reviews are alike, or empty",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="rulingfact",
            name="alike_key",
            field=models.CharField(default="", max_length=16),
        ),
    ]
