"""Rulings that may still be taken back."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("reviews", "0028_claim_ends_index"),
    ]

    operations = [
        migrations.CreateModel(
            name="HeldRuling",
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
                ("action", models.CharField(max_length=16)),
                (
                    "said",
                    models.TextField(
                        help_text="Canonical JSON: all that the person sent"
                    ),
                ),
                ("held_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(db_index=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="held",
                        to="reviews.review",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="heldruling",
            constraint=models.UniqueConstraint(
                fields=("review", "by"), name="held_once_a_person"
            ),
        ),
    ]
