"""Reviews that are set aside until a time or an event."""

from __future__ import annotations

from django.db import migrations, models

_OPEN = models.Q(("state", "open"))
_ORDERS = {
    "review_queue": (
        *("project", "state", "opened_at", "code", "kind", "assignee"),
        *("alike_key", "urgency", "snoozed_until"),
    ),
    "review_by_urgency": (
        *("project", "state", "urgency", "answer_by", "code", "assignee"),
        *("alike_key", "snoozed_until"),
    ),
    "review_by_answer": (
        *("project", "state", "answer_by", "code", "assignee"),
        *("alike_key", "urgency", "snoozed_until"),
    ),
}


class Migration(migrations.Migration):
    dependencies = [("reviews", "0029_held_ruling")]

    operations = [
        migrations.AddField(
            model_name="review",
            name="snoozed_until",
            field=models.DateTimeField(
                null=True,
                help_text="Set aside until then, or until what `snoozed_for` names",
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="snoozed_for",
            field=models.CharField(
                choices=[("time", "Time"), ("run", "Run"), ("comment", "Comment")],
                default="",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="snoozed_seq",
            field=models.BigIntegerField(
                null=True, help_text="Where its run stood when it was set aside"
            ),
        ),
        *(migrations.RemoveIndex(model_name="review", name=name) for name in _ORDERS),
        *(
            migrations.AddIndex(
                model_name="review",
                index=models.Index(condition=_OPEN, fields=list(fields), name=name),
            )
            for name, fields in _ORDERS.items()
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("snoozed_until__isnull", False), ("state", "open")),
                fields=["snoozed_until"],
                name="review_snooze_ends",
            ),
        ),
    ]
