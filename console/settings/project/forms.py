"""What an admin enters about a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from console.forms import TypedText
from reviews.administration.project.schemas import (
    DAYS_MAX,
    DAYS_MIN,
    SLUG_PATTERN,
    ProjectName,
)

_NO_NAME = "Give the project a name."


class ProjectForm(forms.Form):
    name = TypedText(ProjectName, missing=_NO_NAME)
    default_policy = forms.ChoiceField(
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"), "Choose one of the policies in force."
        )
    )
    agents_choose_policy = forms.BooleanField(required=False)
    retention_days = forms.IntegerField(
        required=False,
        min_value=DAYS_MIN,
        max_value=DAYS_MAX,
        error_messages=dict.fromkeys(
            ("invalid", "min_value", "max_value"),
            f"Enter {DAYS_MIN} to {DAYS_MAX:,} days, or nothing to keep them for ever.",
        ),
    )

    def __init__(self, *args: Any, policies: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices: Any = self.fields["default_policy"]
        choices.choices = [(name, name) for name in policies]


class NewProjectForm(forms.Form):
    name = TypedText(ProjectName, missing=_NO_NAME)
    slug = forms.RegexField(
        SLUG_PATTERN,
        max_length=64,
        error_messages={
            "required": "Give it a short name for addresses, such as web-shop.",
            "invalid": "Use small letters and digits, with single dashes between them.",
        },
    )
