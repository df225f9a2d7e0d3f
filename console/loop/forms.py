"""What people type on the loop's pages."""

from __future__ import annotations

from django import forms

from console.forms import ShownNumber, TypedText
from reviews.schemas.fields import ShortText


class PauseForm(forms.Form):
    reason = TypedText(ShortText)


class ResolveForm(forms.Form):
    note = TypedText(ShortText)


class RecommendationForm(forms.Form):
    """`based_on` is the policy version that the shown difference is based on, if any."""

    based_on = ShownNumber()
