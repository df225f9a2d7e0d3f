"""What a person enters to get a token."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone

from console.forms import TypedText
from reviews.administration.own.schemas import TokenName

# How many days a token works; 0 is until it is ended.
LIFETIMES = (
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "a year"),
    ("0", "until I end it"),
)


class TokenForm(forms.Form):
    name = TypedText(TokenName, missing="Give it a name, such as terminal.")
    days = forms.ChoiceField(choices=LIFETIMES, initial="90")

    def get_expiry(self) -> datetime | None:
        days = int(self.cleaned_data["days"])
        return timezone.now() + timedelta(days=days) if days else None
