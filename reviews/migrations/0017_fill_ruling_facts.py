"""Facts of the rulings that are there already, and which of them were regretted."""

from __future__ import annotations

import json

from django.db import migrations
from django.db.models import Q

from reviews.plan import build_regret_statement
from reviews.queue.subjects import build_search_text, find_subject, measure_ms

_AT_A_TIME = 500
_COLUMNS = (
    *("pk", "code", "action", "by_id", "at", "review__project_id", "review__run_id"),
    *("review__run__agent_id", "review__kind", "review__content", "review__opened_at"),
    *("review__title", "note"),
)


def fill(apps, editor):
    ruling_model = apps.get_model("reviews", "Ruling")
    fact_model = apps.get_model("reviews", "RulingFact")
    last = 0
    while True:
        rows = list(
            ruling_model.objects.filter(pk__gt=last, fact__isnull=True)
            .order_by("pk")
            .values_list(*_COLUMNS)[:_AT_A_TIME]
        )
        if not rows:
            break
        last = rows[-1][0]
        fact_model.objects.bulk_create(
            _build_fact(fact_model, *row[1:]) for row in rows
        )
    with editor.connection.cursor() as cursor:
        for run_id in _list_bad_ends(apps):
            cursor.execute(*build_regret_statement(run_id))


def _build_fact(
    model,
    code,
    action,
    by_id,
    at,
    project_id,
    run_id,
    agent_id,
    kind,
    content,
    opened,
    title,
    note,
):
    subject = find_subject(kind, json.loads(content))
    return model(
        ruling_id=code,
        project_id=project_id,
        run_id=run_id,
        agent_id=agent_id,
        by_id=by_id,
        at=at,
        action=action,
        kind=kind,
        severity=subject.severity,
        rule=subject.rule,
        rules=subject.names_text,
        text=build_search_text(title, note),
        took_ms=measure_ms(opened, at),
    )


def _list_bad_ends(apps):
    """Runs with rulings that failed, were not accepted, or were aborted by a person."""
    ruled = apps.get_model("reviews", "RulingFact").objects.values("run_id")
    runs = apps.get_model("ledger", "Run").objects.filter(pk__in=ruled)
    failed = runs.filter(Q(status="failed") | Q(outcome__accepted=False))
    aborted = apps.get_model("ledger", "Entry").objects.filter(
        run__in=runs.filter(status="aborted"),
        type="run.aborted",
        actor__startswith="user:",
    )
    # Those below an aborted run were only taken along.
    by_people = aborted.exclude(payload__contains='"above":')
    return {
        *failed.values_list("pk", flat=True),
        *by_people.values_list("run_id", flat=True),
    }


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0005_shared_use"),
        ("reviews", "0016_ruling_fact"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
