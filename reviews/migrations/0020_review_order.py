"""How severe a review is, whether it can be undone, and from when on it is late."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0019_ruling_figures_from_indexes")]

    operations = [
        migrations.AddField(
            model_name="review",
            name="severity",
            field=models.CharField(
                choices=[
                    ("critical", "Critical"),
                    ("high", "High"),
                    ("medium", "Medium"),
                    ("low", "Low"),
                ],
                default="medium",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="reversibility",
            field=models.CharField(
                choices=[
                    ("read-only", "Read Only"),
                    ("reversible here", "Here"),
                    ("reversible elsewhere", "Elsewhere"),
                    ("irreversible", "Irreversible"),
                ],
                default="irreversible",
                max_length=24,
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="urgency",
            field=models.PositiveSmallIntegerField(
                default=8, help_text="Both as one number, the most urgent first"
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="late_at",
            field=models.DateTimeField(
                null=True, help_text="When the ledger told that it is late"
            ),
        ),
        # Empty until the next migration has filled it.
        migrations.AddField(
            model_name="review",
            name="answer_by",
            field=models.DateTimeField(
                null=True, help_text="Later it is late, and still open"
            ),
        ),
    ]
