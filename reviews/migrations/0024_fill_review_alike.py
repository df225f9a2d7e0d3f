"""The reviews that are there already are compared like those that come."""

from __future__ import annotations

import json

from django.db import migrations

from reviews.queue.likeness import build_alike_key
from reviews.queue.subjects import find_subject

_AT_A_TIME = 500


def fill(apps, editor):
    reviews = apps.get_model("reviews", "Review").objects
    facts = apps.get_model("reviews", "RulingFact").objects
    last = 0
    while True:
        rows = list(
            reviews.filter(pk__gt=last)
            .select_related("run", "ruling__fact")
            .only(
                *("kind", "title", "content", "severity", "alike_key"),
                *("run__agent_id", "ruling__fact__alike_key"),
            )
            .order_by("pk")[:_AT_A_TIME]
        )
        if not rows:
            return
        last = rows[-1].pk
        for row in rows:
            _fill_row(row)
        reviews.bulk_update(rows, ["alike_key"])
        ruled = [row.ruling.fact for row in rows if _has_fact(row)]
        facts.bulk_update(ruled, ["alike_key"])


def _fill_row(row):
    content = json.loads(row.content)
    row.alike_key = build_alike_key(
        kind=row.kind,
        title=row.title,
        content=content,
        subject=find_subject(row.kind, content),
        severity=row.severity,
        agent_id=row.run.agent_id,
    )
    if _has_fact(row):
        row.ruling.fact.alike_key = row.alike_key


def _has_fact(row):
    return getattr(getattr(row, "ruling", None), "fact", None) is not None


class Migration(migrations.Migration):
    dependencies = [("reviews", "0023_review_alike")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
