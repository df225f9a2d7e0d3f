"""What a manager types beside a document: why, and what a new policy is called."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from pydantic import TypeAdapter, ValidationError

from console.forms import TypedText
from reviews.policies.schemas import POLICY_NAME_LIMIT, PolicyName
from reviews.policies.services import RESERVED
from reviews.schemas.fields import ShortText

_NAME: TypeAdapter[str] = TypeAdapter(PolicyName)


def is_policy_name(name: str) -> bool:
    """Whether a policy may be called this."""
    try:
        return _NAME.validate_python(name) not in RESERVED
    except ValidationError:
        return False


class NoteForm(forms.Form):
    """`in_force` is the version that they have compared with, 0 if there was none."""

    note = TypedText(ShortText, missing="Say why, in a sentence.")
    in_force = forms.IntegerField(min_value=0)
    apply_to_running = forms.BooleanField(required=False)


class ShadowForm(forms.Form):
    """How long a draft is to run beside the version in force, and why."""

    PERIODS = (
        (1, "1 hour"),
        (8, "8 hours"),
        (24, "1 day"),
        (72, "3 days"),
        (168, "1 week"),
        (744, "31 days"),
    )

    note = TypedText(ShortText, missing="Say why, in a sentence.")
    hours = forms.TypedChoiceField(
        choices=PERIODS,
        coerce=int,
        error_messages={"required": "Choose for how long."},
    )


class AgainForm(forms.Form):
    """What a backtest is run over: whole days in UTC, an agent, one run, or all runs.

    `days` are those up to now, in place of a first and a last one.
    """

    PERIODS = ((1, "Last day"), (7, "7 days"), (30, "30 days"), (90, "90 days"))

    days = forms.TypedChoiceField(choices=PERIODS, coerce=int, required=False)
    since = forms.DateField(
        required=False, error_messages={"invalid": "A day, such as 2026-11-01."}
    )
    until = forms.DateField(
        required=False, error_messages={"invalid": "A day, such as 2026-11-30."}
    )
    agent = forms.CharField(required=False)
    run = forms.CharField(required=False)
    runs = forms.ChoiceField(choices=[("policy", "policy"), ("all", "all")])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("days"):
            return given
        first, last = given.get("since"), given.get("until")
        for name in ("since", "until"):
            if name not in self.errors and not given.get(name):
                self.add_error(name, "Choose a first and a last day.")
        if first and last and last < first:
            self.add_error("until", "This is before the first day.")
        return given

    @property
    def begins(self) -> datetime:
        """The first moment of the first day."""
        if self.cleaned_data["days"]:
            return timezone.now() - timedelta(days=self.cleaned_data["days"])
        return datetime.combine(self.cleaned_data["since"], time.min, tzinfo=UTC)

    @property
    def ends(self) -> datetime | None:
        """The last moment of the last day; None is now."""
        if self.cleaned_data["days"]:
            return None
        return datetime.combine(self.cleaned_data["until"], time.max, tzinfo=UTC)


class NewPolicyForm(forms.Form):
    """`start` is the policy whose settings it begins with, none of them if empty."""

    name = forms.CharField(
        max_length=POLICY_NAME_LIMIT, error_messages={"required": "Give it a name."}
    )
    start = forms.CharField(required=False)

    def __init__(self, *given: object, existing: Sequence[str]) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.existing = existing

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name in self.existing:
            raise forms.ValidationError("There is a policy of this name already.")
        if not is_policy_name(name):
            raise forms.ValidationError(
                "Use small letters and digits, such as deployments or small-models."
            )
        return name

    def clean_start(self) -> str:
        start: str = self.cleaned_data["start"]
        if start and start not in self.existing:
            raise forms.ValidationError("There is no policy of this name.")
        return start
