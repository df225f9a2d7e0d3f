"""What an admin enters about an agent and its keys."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal

from django import forms

from accounts.models import Scope
from console.forms import TypedText
from guidance.core.runs.usage import Budget
from reviews.administration.agents.schemas import AgentName, Description, KeyName
from reviews.schemas.fields import BUDGET_MAX

# Days; the empty one is until somebody revokes it.
TERMS = (
    ("", "never"),
    ("7", "in 7 days"),
    ("30", "in 30 days"),
    ("90", "in 90 days"),
    ("365", "in a year"),
)
_MICROS = 1_000_000
_NO_SCOPES = "Choose at least one thing that the key may do."


class AgentSettingsForm(forms.Form):
    """Who answers for an agent, what it is for, the policy of its runs, and what all of
    them may use in a day."""

    owner = forms.ChoiceField(required=False)
    description = TypedText(Description)
    policy = forms.ChoiceField(required=False)
    tokens = forms.IntegerField(required=False, min_value=1, max_value=BUDGET_MAX)
    tool_calls = forms.IntegerField(required=False, min_value=1, max_value=BUDGET_MAX)
    cost_usd = forms.DecimalField(
        required=False,
        min_value=Decimal("0.000001"),
        max_digits=15,
        decimal_places=6,
    )

    def __init__(
        self, data: object = None, *, owners: Iterable[str], policies: Iterable[str]
    ) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        nobody, unnamed = ("", "nobody"), ("", "as assigned")
        self.fields["owner"].choices = [nobody, *((each, each) for each in owners)]  # type: ignore[attr-defined]
        self.fields["policy"].choices = [unnamed, *((each, each) for each in policies)]  # type: ignore[attr-defined]

    @property
    def limits(self) -> Budget:
        """An empty field is no limit."""
        money = self.cleaned_data["cost_usd"]
        return Budget(
            tokens=self.cleaned_data["tokens"],
            tool_calls=self.cleaned_data["tool_calls"],
            time_ms=None,
            cost_micros=None if money is None else int(money * _MICROS),
        )


class AgentForm(AgentSettingsForm):
    name = TypedText(AgentName, missing="Give the agent a name.")


class KeyForm(forms.Form):
    name = TypedText(KeyName, missing="Say what the key is for, such as ci.")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=Scope.values,
        error_messages=dict.fromkeys(
            ("required", "invalid_choice", "invalid_list"), _NO_SCOPES
        ),
    )
    term = forms.ChoiceField(choices=TERMS, required=False)

    def get_expiry(self, at: datetime) -> datetime | None:
        days = self.cleaned_data["term"]
        return at + timedelta(days=int(days)) if days else None
