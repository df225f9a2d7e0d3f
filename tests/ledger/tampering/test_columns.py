"""Every column that is stored is compared with a chain, or there is a reason why not."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.db.models import Field, ForeignKey, Model

from reviews.row_checks import administration, stored
from reviews.row_checks.stored import Table

OURS = (
    *("accounts", "guidance", "ledger", "reviews", "gateway", "loop", "webhooks"),
    *("notifications", "console"),
)


def list_columns() -> set[str]:
    return {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for field in model._meta.concrete_fields
        if not field.primary_key or isinstance(field, ForeignKey)
    }


def list_compared(table: Table) -> Iterator[str]:
    """The columns that a kind of rows is read from, also those of other tables."""
    for path in (table.run, *table.key, *table.values.values()):
        model: type[Model] = table.rows.model
        for part in path.split("__"):
            if part in ("pk", "counted"):
                break
            field = model._meta.get_field(part)
            if not isinstance(field, Field):  # from the person to their places
                break
            yield f"{model._meta.label}.{field.name}"
            if isinstance(field, ForeignKey):
                model = field.related_model


def build_compared() -> set[str]:
    tables = (*stored.TABLES, *administration.TABLES, *administration.OWN_TABLES)
    return {column for table in tables for column in list_compared(table)}


if __name__ == "__main__":
    pass
