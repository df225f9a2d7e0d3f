"""What is alike is found from the indexes of the orders alone."""

from __future__ import annotations

from django.db import migrations, models

_OPEN = models.Q(("state", "open"))
_ORDERS = {
    "review_queue": (
        *("project", "state", "opened_at", "code", "kind", "assignee"),
        *("alike_key", "urgency"),
    ),
    "review_by_urgency": (
        *("project", "state", "urgency", "answer_by", "code", "assignee"),
        "alike_key",
    ),
    "review_by_answer": (
        *("project", "state", "answer_by", "code", "assignee"),
        *("alike_key", "urgency"),
    ),
}


class Migration(migrations.Migration):
    dependencies = [("reviews", "0024_fill_review_alike")]

    operations = [
        *(migrations.RemoveIndex(model_name="review", name=name) for name in _ORDERS),
        *(
            migrations.AddIndex(
                model_name="review",
                index=models.Index(condition=_OPEN, fields=list(fields), name=name),
            )
            for name, fields in _ORDERS.items()
        ),
        migrations.AddIndex(
            model_name="rulingfact",
            index=models.Index(
                fields=["project", "alike_key", "at", "id", "action"],
                name="ruling_fact_alike",
            ),
        ),
    ]
