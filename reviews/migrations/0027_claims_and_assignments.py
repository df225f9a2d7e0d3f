"""Claims that end by themselves, and reviews that one person gives to another."""

from __future__ import annotations

from datetime import timedelta

from django.db import migrations, models
from django.utils import timezone


def give_lease(apps, editor):
    """A claim of before holds for as long as a new one."""
    apps.get_model("reviews", "Review").objects.filter(
        state="open", claimed_at__isnull=False
    ).update(claimed_until=timezone.now() + timedelta(minutes=15))


class Migration(migrations.Migration):
    dependencies = [("reviews", "0026_four_eyes")]

    operations = [
        migrations.AddField(
            model_name="review",
            name="assigned_at",
            field=models.DateTimeField(
                null=True, help_text="When another person gave it to its assignee"
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="claimed_until",
            field=models.DateTimeField(
                null=True,
                help_text="The claim ends then, unless its claimer is still there",
            ),
        ),
        migrations.RunPython(give_lease, migrations.RunPython.noop),
    ]
