"""What an admin enters about people."""

from __future__ import annotations

from typing import Any

from django import forms

from accounts.models import Role


class InviteForm(forms.Form):
    email = forms.EmailField(
        max_length=254,
        error_messages={
            "required": "Enter the mail address of the person.",
            "invalid": "This is no mail address, such as dora@example.com.",
        },
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.REVIEWER)


class RoleForm(forms.Form):
    role = forms.ChoiceField(
        choices=Role.choices,
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"), "Choose one of the roles."
        ),
    )
    password = forms.CharField(required=False, max_length=1024, strip=False)

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("role") == Role.ADMIN and not given.get("password"):
            self.add_error("password", "Enter your password to make somebody an admin.")
        return given
