"""What a call says about its run, kept beside it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("reviews", "0012_backtest_unchanged"),)

    operations = (
        migrations.AddField(
            model_name="toolcall",
            name="facts",
            field=models.TextField(
                null=True, help_text="What it says about its run should it run, JSON"
            ),
        ),
    )
