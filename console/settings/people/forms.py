"""What an admin enters about people."""

from __future__ import annotations

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
