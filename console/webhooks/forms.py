"""What a manager enters to add a webhook."""

from __future__ import annotations

from django import forms

from console.forms import TypedText
from webhooks.events import TYPES
from webhooks.schemas import Description, Url

_NO_TYPES = "Choose at least one event."


class WebhookForm(forms.Form):
    url = TypedText(
        Url, missing="Enter a full URL, such as https://hooks.example/checkrail."
    )
    description = TypedText(Description)
    types = forms.MultipleChoiceField(
        choices=[(name, name) for name in TYPES],
        initial=list(TYPES),
        error_messages=dict.fromkeys(
            ("required", "invalid_choice", "invalid_list"), _NO_TYPES
        ),
    )
