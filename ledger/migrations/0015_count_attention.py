"""Figures are counted anew: they say now how long runs were running, how often people were
asked, and what spared them."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forget_figures(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The task that counts goes on from the beginning of each ledger."""
    for name in ("PeriodTotals", "PeriodCount"):
        apps.get_model("ledger", name).objects.all().delete()
    cursors = apps.get_model("ledger", "StatisticsCursor").objects
    cursors.update(position=0, at=None)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0014_halts")]

    operations = [
        *(
            migrations.AddField(
                model_name="periodtotals",
                name=name,
                field=models.BigIntegerField(default=0),
            )
            for name in ("reviews_opened", "running_ms")
        ),
        migrations.RunPython(forget_figures, migrations.RunPython.noop),
    ]
