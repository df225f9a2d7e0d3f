"""Reviews that were ruled on in a period, with the time that it took."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = (("reviews", "0017_fill_ruling_facts"),)

    operations = (
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("state", "ruled")),
                fields=["project", "closed_at", "opened_at", "kind"],
                name="review_ruled",
            ),
        ),
    )
