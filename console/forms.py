"""The fields in which people type: as long as in the API, and redacted where it does.

A field is made from the type that the API's schema has for the same text, so that there
is one rule for both.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import ProhibitNullCharactersValidator
from pydantic import TypeAdapter, ValidationError

from common.errors import DomainError


def get_limit(kept_as: Any) -> int:
    """How many characters a text of this type may have."""
    limit: int = TypeAdapter(kept_as).json_schema()["maxLength"]
    return limit


class TypedText(forms.CharField):
    """A text of one of the API's types, such as `Text` of `reviews.schemas.fields`."""

    def __init__(self, kept_as: Any, *, missing: str = "", **options: Any) -> None:
        """`missing` is said where a text is needed and there is none."""
        self._adapter: TypeAdapter[str] = TypeAdapter(kept_as)
        limit = get_limit(kept_as)
        super().__init__(
            required=bool(missing),
            max_length=limit,
            error_messages={
                "required": missing,
                "max_length": f"The text is too long: at most {limit:,} characters.",
            },
            **options,
        )
        for validator in self.validators:
            if isinstance(validator, ProhibitNullCharactersValidator):
                validator.message = "The text has a character that cannot be stored."

    def to_python(self, value: Any) -> str:
        # A browser sends every line end as CRLF.
        return str(super().to_python(value) or "").replace("\r\n", "\n")

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        try:
            return self._adapter.validate_python(text) if text else ""
        except ValidationError:
            # With labels in the place of its secrets it is longer than it was.
            raise forms.ValidationError(
                self.error_messages["max_length"], code="max_length"
            ) from None


class ShownNumber(forms.Field):
    """A number that the page has put into a hidden field; None where it is none."""

    def __init__(self) -> None:
        super().__init__(required=False)

    def to_python(self, value: Any) -> int | None:
        text = str(value or "")
        known = text.isascii() and text.isdigit() and len(text) < 10
        return int(text) if known else None


def add_refusal(form: forms.Form, refusal: DomainError) -> None:
    """Put a refusal beside the field that it names, or above all of them."""
    named = [str(error["loc"][0]) for error in refusal.errors]
    field = next((name for name in named if name in form.fields), None)
    form.add_error(field, refusal.detail)


def get_first_error(form: forms.Form) -> str:
    """For a dialog with one field, which shows it below that."""
    return str(next(iter(form.errors.values()))[0])
