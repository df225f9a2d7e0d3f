"""How many people have to approve a review, and those who have."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from common.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("reviews", "0025_review_alike_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="review",
            name="approvals_needed",
            field=models.PositiveSmallIntegerField(
                default=1, help_text="How many people have to approve it"
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="approvals_given",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="How many have, while it is open"
            ),
        ),
        migrations.CreateModel(
            name="ReviewApproval",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "version",
                    models.PositiveIntegerField(
                        help_text="Of the review as it was read"
                    ),
                ),
                ("action", models.CharField(max_length=16)),
                ("note", models.TextField(default="")),
                (
                    "amended",
                    models.TextField(
                        help_text="Canonical JSON: the call as the person changed it",
                        null=True,
                    ),
                ),
                (
                    "findings",
                    models.TextField(
                        default="[]",
                        help_text="Canonical JSON: what the gates say of the changed call",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="reviews.review",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="reviewapproval",
            constraint=models.UniqueConstraint(
                fields=("review", "version"), name="approval_of_a_version_once"
            ),
        ),
        append_only("reviews_reviewapproval"),
    ]
