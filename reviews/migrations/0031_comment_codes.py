"""Comments have a code of their own, those that are there already, too."""

from __future__ import annotations

from django.db import migrations, models

from common.ids import uuid7

_AT_A_TIME = 500


def fill(apps, editor):
    comments = apps.get_model("reviews", "Comment").objects
    while rows := list(comments.filter(code__isnull=True).order_by("pk")[:_AT_A_TIME]):
        for row in rows:
            row.code = uuid7()
        comments.bulk_update(rows, ["code"])


class Migration(migrations.Migration):
    dependencies = [("reviews", "0030_snoozing")]

    operations = [
        migrations.AddField(
            model_name="comment",
            name="code",
            field=models.UUIDField(null=True, editable=False),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
