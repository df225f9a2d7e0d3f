"""What people type on the page of a run."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from pydantic import TypeAdapter, ValidationError

from common.errors import Invalid
from console.forms import TypedText, get_limit
from ledger.models import Run
from reviews.agent_notes.schemas import TAG_MAX, TAGS_MAX, AgentNoteIn, NoteText, Tags
from reviews.schemas.fields import BUDGET_MAX, Reason, ShortText
from reviews.schemas.reviews import BudgetIn

_MICROS = 1_000_000
_MINUTE_MS = 60_000


class AbortForm(forms.Form):
    reason = TypedText(Reason)
    children = forms.BooleanField(required=False)


class NoteForm(forms.Form):
    text = TypedText(ShortText, missing="Write the note first.")


class TellForm(forms.Form):
    """A note to the agent; tags are words with spaces or commas between them. `stop` ends
    the run, and the text is what its agent is told."""

    text = TypedText(NoteText, missing="Write what the agent is to know.")
    tags = forms.CharField(required=False, max_length=300)
    stop = forms.BooleanField(required=False)

    def clean_tags(self) -> list[str]:
        words = self.cleaned_data["tags"].replace(",", " ").split()
        try:
            return TypeAdapter(Tags).validate_python(words)
        except ValidationError:
            raise forms.ValidationError(
                f"Up to {TAGS_MAX} tags, each a word of at most {TAG_MAX} letters."
            ) from None

    def build_body(self) -> AgentNoteIn:
        given = self.cleaned_data
        return AgentNoteIn(text=given["text"], tags=given["tags"])


def build_tell_context() -> dict[str, object]:
    """What the dialog needs in which a person writes to an agent."""
    return {"tell_form": TellForm(), "tell_limit": get_limit(NoteText)}


class ReopenForm(forms.Form):
    """Why a stopped run may go on, and what is added to its limits."""

    reason = TypedText(Reason, missing="Say why it may continue.")
    tokens = forms.IntegerField(
        label="Tokens", required=False, min_value=1, max_value=BUDGET_MAX
    )
    tool_calls = forms.IntegerField(
        label="Tool calls", required=False, min_value=1, max_value=BUDGET_MAX
    )
    minutes = forms.IntegerField(
        label="Minutes", required=False, min_value=1, max_value=BUDGET_MAX // _MINUTE_MS
    )
    cost = forms.DecimalField(
        label="US dollars",
        required=False,
        min_value=Decimal("0.01"),
        max_digits=9,
        decimal_places=2,
        step_size=Decimal("0.01"),
    )

    @property
    def budget_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("tokens", "tool_calls", "minutes", "cost")]

    def build_budget(self, run: Run) -> BudgetIn:
        """The new limits. What has none needs no more."""
        more = self.cleaned_data
        limits: dict[str, Any] = {}
        for name, limit, added in (
            ("tokens", run.tokens_limit, more["tokens"]),
            ("tool_calls", run.tool_calls_limit, more["tool_calls"]),
            ("time_ms", run.time_ms_limit, (more["minutes"] or 0) * _MINUTE_MS),
        ):
            if added and limit is not None:
                limits[name] = limit + added
        if more["cost"] and run.cost_micros_limit is not None:
            total = Decimal(run.cost_micros_limit) / _MICROS + more["cost"]
            limits["cost_usd"] = f"{total:f}"
        try:
            return BudgetIn(**limits)
        except ValidationError:
            raise Invalid("That is more budget than a run can have.") from None
