"""A kind of review for a plan that an agent submits."""

from __future__ import annotations

from django.db import migrations, models

KINDS = [
    *("pause", "request", "question", "confirmation", "exhausted", "loop_action"),
    *("policy_change", "plan"),
]


class Migration(migrations.Migration):
    dependencies = [("reviews", "0034_agent_note")]

    operations = [
        migrations.RemoveConstraint(model_name="review", name="review_kind_known"),
        migrations.AlterField(
            model_name="review",
            name="kind",
            field=models.CharField(
                choices=[(kind, kind.replace("_", " ").title()) for kind in KINDS],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(kind__in=KINDS), name="review_kind_known"
            ),
        ),
    ]
