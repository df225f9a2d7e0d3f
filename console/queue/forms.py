"""What people type in the queue."""

from __future__ import annotations

import json
from typing import Any, cast
from uuid import UUID

from django import forms
from django.http import QueryDict

from common.errors import DomainError, Invalid
from common.ids import parse_code
from console.forms import ShownNumber, TypedText
from console.queue.allowances.offer import parse_allowance
from console.queue.amending.box import build_amend_box, parse_amendment
from console.queue.amending.parts import PartsRefused
from console.queue.kinds import get_kind
from console.queue.remember import parse_remember
from reviews.close_flood import CLOSE_LIMIT
from reviews.models import Review
from reviews.schemas.fields import Text
from reviews.schemas.reviews import CommentText
from safetext import make_visible


class RulingForm(forms.Form):
    """A ruling on `review`, as its dock and its dialogs send it.

    Which actions a review takes, and that what was read is still what it says, is judged
    under the lock, not here.
    """

    action = forms.CharField(required=False)
    version = ShownNumber()
    content_digest = forms.CharField(required=False, empty_value=None)
    text = TypedText(Text)
    # In the dialog that aborts a run; the note of the dock is another text.
    reason = TypedText(Text)
    amended = forms.Field(required=False)
    confirmed = forms.CharField(required=False)
    take_over = forms.CharField(required=False)
    remember = forms.CharField(required=False)
    hours = forms.CharField(required=False)
    uses = forms.CharField(required=False)
    # How long it may go on: this once, or so many steps or minutes, up to a value.
    allow = forms.CharField(required=False)
    allow_steps = forms.CharField(required=False)
    allow_minutes = forms.CharField(required=False)
    allow_up_to = forms.CharField(required=False)

    def __init__(self, *args: Any, review: Review, **options: Any) -> None:
        super().__init__(*args, **options)
        self.review = review
        self.is_amendable = get_kind(review.kind).is_amendable
        self.amends = self.is_amendable and self.data.get("action") == "amend"
        if self.amends:
            # A field for each part of the call, beside which its errors stand.
            for part in build_amend_box(json.loads(review.content)).parts:
                self.fields.setdefault(part.name, forms.Field(required=False))
        elif not self.is_amendable:
            for name in filter(_is_changed_part, self.data):
                self.fields[name] = forms.Field(required=False)

    def clean_amended(self) -> dict[str, Any] | None:
        if not self.is_amendable:
            return self._parse_changes(self.data.get("action"))
        if not self.amends:
            return None
        try:
            return parse_amendment(json.loads(self.review.content), self.data)
        except PartsRefused as refusal:
            for name, (_, message) in refusal.problems.items():
                self.add_error(name, make_visible(message))
            return None
        except Invalid as refusal:
            raise forms.ValidationError(make_visible(refusal.detail)) from None

    def _parse_changes(self, action: str | None) -> dict[str, Any] | None:
        """Those that are made where the plan stands: no approval goes past them."""
        if action not in {"approve", "amend"}:
            return None
        kind = get_kind(self.review.kind)
        try:
            changed = kind.parse_changes(self.review, cast(QueryDict, self.data))
        except PartsRefused as refusal:
            for name, (label, message) in refusal.problems.items():
                self.add_error(name, make_visible(f"{label}: {message}"))
            return None
        except Invalid as refusal:
            raise forms.ValidationError(make_visible(refusal.detail)) from None
        if changed is None and action == "amend":
            raise forms.ValidationError(
                "Nothing was changed: strike a step or change a call, or approve it."
            )
        return changed

    def clean_confirmed(self) -> str:
        """Each finding by itself: fewer ticks than findings confirm nothing."""
        ticked: str = self.cleaned_data["confirmed"]
        asking = ShownNumber().clean(self.data.get("asking", "")) or 1
        given = cast(QueryDict, self.data).getlist("confirmed")
        enough = given.count(ticked) >= asking
        return ticked if enough else ""

    def clean(self) -> dict[str, Any]:
        """Only a call that is approved as it is may be remembered, and only with an approval
        something is allowed."""
        said = self.cleaned_data
        remembers = self.is_amendable and said.get("action") == "approve"
        try:
            said["remember"] = parse_remember(said) if remembers else None
        except Invalid as refusal:
            self.add_error("remember", refusal.detail)
        said["allowance"] = None
        if said.get("allow") and said.get("action") == "approve":
            content = json.loads(self.review.content)
            try:
                said["allowance"] = parse_allowance(self.review, content, said)
            except Invalid as refusal:
                self.add_error("allow", make_visible(refusal.detail))
        return said

    def get_ruling(self) -> dict[str, Any]:
        """As `reviews.services.submit_ruling_now` takes it."""
        said, action = self.cleaned_data, self.cleaned_data["action"]
        text = said["reason" if action == "abort" else "text"]
        if action == "approve" and said["amended"] is not None:
            action = "amend"
        return {
            "action": action,
            "version": said["version"],
            "content_digest": said["content_digest"],
            "note": "" if action == "answer" else text,
            "answer": text if action == "answer" else None,
            "amended": said["amended"],
            "confirmed": said["confirmed"],
            "take_over": said["take_over"],
            "remember": said["remember"],
            "allowance": said["allowance"],
        }

    def add_refusal(self, refusal: DomainError) -> bool:
        """Put a refusal beside the field that it is about; False where it has none."""
        note = "reason" if self.data.get("action") == "abort" else "text"
        fields = {"note": note, "answer": "text", "amended": "amended"}
        fields["allowance"] = "allow"
        errors = [
            (name, error["message"])
            for error in refusal.errors
            if (name := str(error["loc"][0]).partition(".")[0]) in fields
        ]
        if not errors:
            return False
        name = errors[0][0]
        # Beside a field its name need not be said.
        said = [refusal.detail.removeprefix(f"{name}: ")]
        if name == "allowance":
            said = [f"{errors[0][1]}."]
        if name == "amended":
            said += [f"{message}." for _, message in errors]
        text = make_visible(" ".join(said))
        self.add_error(fields[name], text[:1].upper() + text[1:])
        return True


def _is_changed_part(name: str) -> bool:
    return name.startswith("amended-")


class CommentForm(forms.Form):
    text = TypedText(CommentText, missing="Write the note first.")
    reply_to = forms.CharField(required=False)


class ClaimForm(forms.Form):
    """`take_over` names the claimer whom the screen has shown."""

    take_over = forms.CharField(required=False)


class CloseAllForm(forms.Form):
    """One act on the reviews that were listed, with one reason."""

    codes = forms.CharField(required=False)
    action = forms.ChoiceField(
        choices=[("deny", "Deny"), ("abort", "Abort")],
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"),
            "Choose whether to deny the calls or to abort the runs.",
        ),
    )
    reason = TypedText(
        Text, missing="Say why: it is sent to the agent and kept in the ledger."
    )

    def clean_codes(self) -> list[UUID]:
        codes = [parse_code(text) for text in self.cleaned_data["codes"].split()]
        known = [code for code in codes if code is not None]
        if not known or len(known) < len(codes) or len(known) > CLOSE_LIMIT:
            raise forms.ValidationError("Look at the reviews below, then choose again.")
        return known
