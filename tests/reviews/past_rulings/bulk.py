"""Many rulings at once, beside the writer: for figures and plans alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from accounts.models import Project, User
from common.ids import uuid7
from reviews.models import Review, Ruling, RulingFact


def add_rulings(project: Project, count: int, *, by: User, **values: Any) -> None:
    """Copies of a ruling that is there, one second apart, with other values."""
    fact = RulingFact.objects.filter(project=project).select_related(
        "ruling__review"
    )[0]  # fmt: skip
    step = timedelta(seconds=1)
    reviews = [_copy(fact.ruling.review) for _ in range(count)]
    Review.objects.bulk_create(reviews)
    rulings = [
        _copy(fact.ruling, review=review, by=by, at=fact.at - step * number)
        for number, review in enumerate(reviews, 1)
    ]
    Ruling.objects.bulk_create(rulings)
    RulingFact.objects.bulk_create(
        _copy(fact, ruling=ruling, by=by, at=ruling.at, **values) for ruling in rulings
    )


def _copy(row: Any, **values: Any) -> Any:
    names = [field.attname for field in row._meta.concrete_fields]
    kept = {name: getattr(row, name) for name in names if name != "id"}
    if "code" in kept:
        kept["code"] = uuid7()
    replaced = set(values) | {f"{name}_id" for name in values}
    kept = {name: value for name, value in kept.items() if name not in replaced}
    return type(row)(**kept, **values)
