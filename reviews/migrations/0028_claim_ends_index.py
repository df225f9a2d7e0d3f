"""Claims whose time is over, and who was given a review last, are found by indexes."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    # By itself: PostgreSQL makes no index while rows of the same transaction change.
    dependencies = [("reviews", "0027_claims_and_assignments")]

    operations = [
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("claimed_until__isnull", False), ("state", "open")),
                fields=["claimed_until"],
                name="review_claim_ends",
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("assigned_at__isnull", False)),
                fields=["project", "assignee", "assigned_at"],
                name="review_given",
            ),
        ),
    ]
