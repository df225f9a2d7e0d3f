"""What people type to share reviews."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms

from console.forms import TypedText
from reviews.models import Review, SnoozedFor
from reviews.teamwork.assignment import LEAST_LOADED, ROUND_ROBIN
from reviews.teamwork.schemas import HandoverNote
from reviews.teamwork.snooze import get_latest

EVERYBODY = "everybody"
# A role, and how one of those who have it is chosen.
ROLE_CHOICES = {
    f"role:reviewer {LEAST_LOADED}": "The reviewer with the fewest open",
    f"role:reviewer {ROUND_ROBIN}": "The reviewer whose turn it is",
    f"role:manager {LEAST_LOADED}": "The manager with the fewest open",
}


# Minutes, or what brings it back.
SNOOZES = {
    "15": "For 15 minutes",
    "60": "For an hour",
    "240": "For four hours",
    "": "As long as it may wait",
    SnoozedFor.RUN.value: "Until something happens in the run",
    SnoozedFor.COMMENT.value: "Until somebody comments",
}


class SnoozeForm(forms.Form):
    """`until` is one of `SNOOZES`."""

    until = forms.ChoiceField(choices=[*SNOOZES.items()], required=False)

    def get_snooze(self, review: Review, at: datetime) -> dict[str, Any]:
        """As `reviews.teamwork.services.submit_snooze` takes it; what is too long for this
        review ends when it has to be answered."""
        chosen, latest = self.cleaned_data["until"], get_latest(review, at)
        if chosen in {SnoozedFor.RUN, SnoozedFor.COMMENT}:
            return {"event": chosen, "until": None}
        wanted = at + timedelta(minutes=int(chosen)) if chosen else latest
        return {"event": SnoozedFor.TIME.value, "until": min(wanted, latest)}


class AssignForm(forms.Form):
    """To whom `review` is given, and what they should know."""

    to = forms.CharField(error_messages={"required": "Choose somebody."})
    note = TypedText(HandoverNote)

    def __init__(self, *args: Any, review: Review, **options: Any) -> None:
        super().__init__(*args, **options)
        self.review = review

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("to") == EVERYBODY and "note" in said and not said["note"]:
            self.add_error("note", "Say what the next person should know.")
        return said

    @property
    def is_handover(self) -> bool:
        """Whether it goes back to everybody."""
        return bool(self.cleaned_data["to"] == EVERYBODY)

    def get_assignment(self) -> dict[str, str]:
        """As `reviews.teamwork.services.submit_assignment` takes it."""
        said = self.cleaned_data
        name, _, how = said["to"].partition(" ")
        return {"to": name, "how": how or LEAST_LOADED, "note": said["note"]}
