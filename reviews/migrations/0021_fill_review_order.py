"""The reviews that are there already: as the built-in rules have it, late when they end.

A ruled one is as severe as its ruling says it was.
"""

from __future__ import annotations

import json
from collections import defaultdict

from django.db import migrations
from django.db.models import F

from reviews.queue.subjects import count_urgency, find_subject

_AT_A_TIME = 500


def fill(apps, editor):
    reviews = apps.get_model("reviews", "Review").objects
    last = 0
    while True:
        rows = reviews.filter(pk__gt=last).order_by("pk")[:_AT_A_TIME]
        found = rows.values_list("pk", "kind", "content", "ruling__fact__severity")
        # Many are alike: one statement for all of a kind, not one condition for each row.
        alike = defaultdict(list)
        for last, kind, content, ruled in found:
            subject = find_subject(kind, json.loads(content))
            alike[ruled or subject.severity, subject.reversibility].append(last)
        if not alike:
            return
        for (severity, reversibility), keys in alike.items():
            reviews.filter(pk__in=keys).update(
                severity=severity,
                reversibility=reversibility,
                urgency=count_urgency(severity=severity, reversibility=reversibility),
                answer_by=F("due_at"),
            )


class Migration(migrations.Migration):
    dependencies = [("reviews", "0020_review_order")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
