"""What a manager types beside a document: why."""

from __future__ import annotations

from django import forms

from console.forms import TypedText
from reviews.schemas.fields import ShortText


class NoteForm(forms.Form):
    """`in_force` is the version that they have compared with, 0 if there was none."""

    note = TypedText(ShortText, missing="Say why, in a sentence.")
    in_force = forms.IntegerField(min_value=0)
