"""What a manager types to say that a value is not a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from console.forms import TypedText
from reviews.schemas.exemptions import GivenReason


class ExemptionForm(forms.Form):
    """Which of the secrets of a call is none, and why."""

    fingerprint = forms.ChoiceField(
        error_messages={
            "required": "Choose the value.",
            "invalid_choice": "This value is not in the call.",
        }
    )
    reason = TypedText(GivenReason, missing="Say why it is not a secret.")

    def __init__(self, labels: Mapping[str, str], data: Any = None) -> None:
        """`labels` are what is shown in the place of the secrets, by fingerprint."""
        first = next(iter(labels), None)
        super().__init__(data, initial={"fingerprint": first})
        self.fields["fingerprint"].choices = list(labels.items())  # type: ignore[attr-defined]
