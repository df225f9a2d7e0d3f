"""What a draft in shadow decides otherwise about a call is found by its tool."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("reviews", "0010_backtest_unknown"),)

    operations = (
        migrations.AddField(
            model_name="policyshadowitem",
            name="tool",
            field=models.CharField(default="", help_text="Of a call", max_length=200),
        ),
    )
