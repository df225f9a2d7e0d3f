"""Forms of what a person enters about themselves, and to get a token."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import available_timezones

from django import forms
from django.utils import timezone

from console.forms import TypedText
from guidance.time_zones import find_zone
from reviews.administration.own.profile import ProfileChange
from reviews.administration.own.schemas import PersonName, TokenName
from reviews.administration.people.addresses import check_address

_REGIONS = (
    *("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe"),
    *("Indian", "Pacific"),
)
# How many days a token works; 0 is until it is ended.
LIFETIMES = (
    ("7", "7 days"),
    ("30", "30 days"),
    ("90", "90 days"),
    ("365", "a year"),
    ("0", "until I end it"),
)


class ProfileForm(forms.Form):
    name = TypedText(PersonName)
    address = forms.CharField(
        max_length=254,
        required=False,
        error_messages={"max_length": "An address has at most 254 characters."},
    )
    time_zone = forms.CharField(max_length=64, required=False)

    def clean_address(self) -> str:
        typed: str = self.cleaned_data["address"]
        try:
            return check_address(typed) if typed else ""
        except ValueError:
            raise forms.ValidationError(
                "This is no mail address. Enter one such as dora@example.com."
            ) from None

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"]
        if name and find_zone(name) is None:
            raise forms.ValidationError("Choose one of the offered time zones.")
        return name

    def build_change(self) -> ProfileChange:
        return ProfileChange(**self.cleaned_data)


def list_zones() -> list[str]:
    """List those that people know: by region and city."""
    return ["UTC", *sorted(name for name in available_timezones() if _is_city(name))]


def _is_city(name: str) -> bool:
    return name.partition("/")[0] in _REGIONS


class TokenForm(forms.Form):
    name = TypedText(TokenName, missing="Give it a name, such as terminal.")
    days = forms.ChoiceField(choices=LIFETIMES, initial="90")

    def get_expiry(self) -> datetime | None:
        days = int(self.cleaned_data["days"])
        return timezone.now() + timedelta(days=days) if days else None
