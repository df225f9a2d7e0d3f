"""Columns that are kept shorter than they read (`ledger.models.packing`, `hashes`).

The writer shortens what it stores; what the ORM stores stands there as it is. Both are read
alike. In migrations they are what they are for the database: ordinary text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import ExpressionWrapper, F
from django.db.models.expressions import Combinable

from ledger.models.hashes import expand_hash
from ledger.models.packing import unpack_text

if TYPE_CHECKING:
    TextField = models.TextField[str, str]
    CharField = models.CharField[str, str]
else:
    TextField, CharField = models.TextField, models.CharField


class PackedTextField(TextField):
    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return None if value is None else unpack_text(value)

    def deconstruct(self) -> Any:
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.TextField", arguments, options


def read_as_kept(name: str) -> Combinable:
    """A packed column as it stands there, for whoever unpacks it: what was damaged is
    then an error of this row alone."""
    return ExpressionWrapper(F(name), output_field=models.TextField())


class HashField(CharField):
    """SHA-256 in hexadecimal. A query by its value would miss the shorter form."""

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return None if value is None else expand_hash(value)

    def deconstruct(self) -> Any:
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.CharField", arguments, options
