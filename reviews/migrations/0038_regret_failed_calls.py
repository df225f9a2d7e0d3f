"""Approvals of calls that failed count as regretted, those from before that, too."""

from __future__ import annotations

from django.db import migrations


def fill(apps, editor):
    """Approvals of calls that failed, from before that counted."""
    rulings = apps.get_model("reviews", "Ruling").objects.filter(
        review__call__ok=False, review__call__grant__state="spent"
    )
    apps.get_model("reviews", "RulingFact").objects.filter(
        ruling_id__in=rulings.values("code"), action__in=("approve", "amend")
    ).update(regretted=True)


class Migration(migrations.Migration):
    dependencies = [("reviews", "0037_read_ms")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
