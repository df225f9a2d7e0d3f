"""What people enter to halt something, and to let it go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from pydantic import ValidationError

from console.forms import TypedText
from reviews.halts.schemas import KEPT_MAX, HaltReason, HaltScopeIn

KINDS = (
    ("project", "The whole project"),
    ("agent", "An agent"),
    ("label", "Runs with a label"),
    ("run", "A run"),
)


class ScopeForm(forms.Form):
    """The scope of a halt. Nothing is chosen before a person chooses."""

    kind = forms.ChoiceField(
        choices=KINDS,
        error_messages={"required": "Choose what to halt."},
    )
    agent = forms.ChoiceField(required=False)
    label = forms.CharField(required=False, max_length=321)
    run = forms.CharField(required=False, max_length=36)
    children = forms.BooleanField(required=False)

    def __init__(self, agents: Sequence[str], data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["agent"].choices = [("", "Choose one"), *((a, a) for a in agents)]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        kind = cleaned.get("kind")
        if kind is None or kind in self.errors:
            return cleaned
        value = True if kind == "project" else cleaned[kind]
        children = kind == "run" and cleaned["children"]
        try:
            cleaned["scope"] = HaltScopeIn.model_validate(
                {kind: value, "children": children}
            )
        except ValidationError:
            self.add_error(kind, _WRONG[kind])
        return cleaned


class HaltForm(ScopeForm):
    """The scope, why, and the scope whose effect the page showed."""

    reason = TypedText(HaltReason, missing="Say why, in a sentence.")
    seen = forms.CharField(required=False, max_length=700)


_WRONG = {
    "agent": "Choose an agent.",
    "label": "Give the label’s name and value, as in team:shop.",
    "run": "Give the run’s whole id.",
}


class ReleaseForm(forms.Form):
    """`keep_agents` stay halted, and so do runs with one of `keep_labels`, a line each."""

    reason = TypedText(HaltReason, missing="Say why, in a sentence.")
    keep_agents = forms.MultipleChoiceField(required=False)
    keep_labels = forms.CharField(required=False, max_length=4_000)

    def __init__(self, agents: Sequence[str], data: Any = None) -> None:
        super().__init__(data)
        self.fields["keep_agents"].choices = [(each, each) for each in agents]  # type: ignore[attr-defined]

    def clean_keep_labels(self) -> list[str]:
        lines = [each.strip() for each in self.cleaned_data["keep_labels"].split("\n")]
        return [each for each in lines if each]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        agents = [{"agent": each} for each in cleaned["keep_agents"]]
        labels = [{"label": each} for each in cleaned["keep_labels"]]
        if len(agents) + len(labels) > KEPT_MAX:
            self.add_error(None, f"At most {KEPT_MAX} may be kept at once.")
        try:
            kept = [HaltScopeIn.model_validate(each) for each in [*agents, *labels]]
        except ValidationError:
            self.add_error("keep_labels", _WRONG["label"])
        else:
            cleaned["keep"] = kept
        return cleaned
