"""What somebody enters who is new here."""

from __future__ import annotations

from django import forms
from django.contrib.auth import password_validation
from django.core.validators import RegexValidator

from accounts.models import User

# Plain letters: a name that only looks like another one would fool the others.
_NAME = RegexValidator(
    r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\Z",
    "Use letters from a to z, digits, dots, dashes and underscores.",
)


class JoinForm(forms.Form):
    username = forms.CharField(
        max_length=64,
        validators=[_NAME],
        error_messages={"required": "Choose a name to sign in with."},
    )
    password = forms.CharField(
        max_length=1024,
        strip=False,
        error_messages={"required": "Choose a password."},
    )
    again = forms.CharField(
        max_length=1024,
        strip=False,
        error_messages={"required": "Enter the password once more."},
    )

    def clean(self) -> None:
        password, again = (
            self.cleaned_data.get(name) for name in ("password", "again")
        )
        if not password or not again:
            return
        if password != again:
            self.add_error("again", "The two passwords differ.")
            return
        user = User(username=self.cleaned_data.get("username", ""))
        try:
            password_validation.validate_password(password, user)
        except forms.ValidationError as problem:
            self.add_error("password", problem)
