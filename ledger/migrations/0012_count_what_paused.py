"""Figures are counted anew: they say now which gates paused steps."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def forget_figures(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The task that counts goes on from the beginning of each ledger."""
    for name in ("PeriodTotals", "PeriodCount"):
        apps.get_model("ledger", name).objects.all().delete()
    cursors = apps.get_model("ledger", "StatisticsCursor").objects
    cursors.update(position=0, at=None)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0011_words_without_ids")]

    operations = [migrations.RunPython(forget_figures, migrations.RunPython.noop)]
