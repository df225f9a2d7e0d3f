"""The orders of the queue, read from an index alone."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0021_fill_review_order")]

    operations = [
        migrations.AlterField(
            model_name="review",
            name="answer_by",
            field=models.DateTimeField(help_text="Later it is late, and still open"),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["project", "state", "urgency", "answer_by", "code", "assignee"],
                name="review_by_urgency",
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["project", "state", "answer_by", "code", "assignee"],
                name="review_by_answer",
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                fields=["project", "opened_at", "code"], name="review_by_age"
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("late_at__isnull", True), ("state", "open")),
                fields=["answer_by"],
                name="review_late",
            ),
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("severity__in", ["critical", "high", "medium", "low"])
                ),
                name="review_severity_known",
            ),
        ),
    ]
