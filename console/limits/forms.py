"""What a manager enters to give more of a limit."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms

from console.forms import TypedText
from guidance.core.runs.usage import Usage
from reviews.schemas.exemptions import GivenReason
from reviews.schemas.fields import AMOUNT_MAX

_MICROS = 1_000_000
PERIOD, GOOD = "period", "good"


class RaiseForm(forms.Form):
    """So much more; at least one amount. `policy` counts where it is for good."""

    tokens = forms.IntegerField(
        required=False, min_value=1, max_value=AMOUNT_MAX, label="Tokens"
    )
    tool_calls = forms.IntegerField(
        required=False, min_value=1, max_value=AMOUNT_MAX, label="Tool calls"
    )
    cost_usd = forms.DecimalField(
        required=False,
        min_value=Decimal("0.000001"),
        max_digits=15,
        decimal_places=6,
        label="US dollars",
    )
    lasts = forms.ChoiceField(
        choices=[(PERIOD, ""), (GOOD, "")],
        initial=PERIOD,
        error_messages={"required": "Choose for how long."},
    )
    policy = forms.ChoiceField(required=False)
    reason = TypedText(GivenReason, missing="Say why, in a sentence.")

    def __init__(
        self, parts: Sequence[str], policies: Sequence[str], data: Any = None
    ) -> None:
        """`parts` are the fields of what is limited, `policies` those that limit it."""
        first = policies[0] if policies else ""
        super().__init__(data, initial={"lasts": PERIOD, "policy": first})
        for name in ("tokens", "tool_calls", "cost_usd"):
            if name not in parts:
                del self.fields[name]
        self.amount_names = tuple(parts)
        self.fields["policy"].choices = [(each, each) for each in policies]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        given = [name for name in self.amount_names if cleaned.get(name)]
        wrong = any(name in self.errors for name in self.amount_names)
        if not given and not wrong:
            self.add_error(self.amount_names[0], "Say how much more.")
        return cleaned

    @property
    def more(self) -> Usage:
        money = self.cleaned_data.get("cost_usd") or Decimal(0)
        return Usage(
            tokens=self.cleaned_data.get("tokens") or 0,
            tool_calls=self.cleaned_data.get("tool_calls") or 0,
            cost_micros=int(money * _MICROS),
        )

    @property
    def is_for_good(self) -> bool:
        return bool(self.cleaned_data["lasts"] == GOOD)
