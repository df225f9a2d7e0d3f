"""What a person wants to be told of."""

from __future__ import annotations

from django import forms

# The least severity; empty is never.
CHOICES = (
    ("", "Never"),
    ("critical", "Critical only"),
    ("high", "High and critical"),
    ("medium", "Medium and worse"),
    ("low", "Everything"),
)


class NotificationsForm(forms.Form):
    mail_from = forms.ChoiceField(choices=CHOICES, required=False)
    desktop_from = forms.ChoiceField(choices=CHOICES, required=False)
    sound = forms.BooleanField(required=False)
