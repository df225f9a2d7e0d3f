"""A backtest also lists the decisions that stored facts cannot judge."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("reviews", "0009_suggestions"),)

    operations = (
        migrations.AddField(
            model_name="backtestitem",
            name="unknown",
            field=models.CharField(
                db_default="",
                default="",
                help_text="Why stored facts cannot judge it, else empty",
                max_length=100,
            ),
        ),
    )
