"""What people send about a selection of reviews."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict

from common.ids import parse_code
from console.forms import TypedText
from reviews.bulk.schemas import BULK_LIMIT, BulkItemIn
from reviews.bulk.services import ONE_BY_ONE
from reviews.models import RULINGS
from reviews.queue.likeness import parse_alike_key
from reviews.schemas.fields import Text

ACTIONS = sorted({name for names in RULINGS.values() for name in names} - ONE_BY_ONE)
_ACTION_CHOICES = [(name, name) for name in ACTIONS]
_NOTHING = "Select at least one review."


def _list_sent(form: forms.Form, name: str) -> list[str]:
    return form.data.getlist(name) if isinstance(form.data, QueryDict) else []


class SelectionForm(forms.Form):
    """What was ticked: reviews, and rows that stand for several."""

    action = forms.ChoiceField(choices=_ACTION_CHOICES)

    def get_codes(self) -> list[UUID]:
        found = map(parse_code, _list_sent(self, "pick"))
        return list(dict.fromkeys(code for code in found if code))[:BULK_LIMIT]

    def get_alike_keys(self) -> list[str]:
        found = map(parse_alike_key, _list_sent(self, "like"))
        return [key for key in found if key]


class HeldForm(forms.Form):
    """Reviews on which the page holds a ruling."""

    def get_codes(self) -> list[str]:
        found = map(parse_code, _list_sent(self, "code"))
        return list(dict.fromkeys(str(code) for code in found if code))[:BULK_LIMIT]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadItem:
    """A review as the summary showed it; `claimer` is whoever had claimed it then."""

    item: BulkItemIn
    claimer: str

    @classmethod
    def parse(cls, text: str) -> ReadItem | None:
        code, _, rest = text.partition(" ")
        version, _, rest = rest.partition(" ")
        digest, _, claimer = rest.partition(" ")
        if parse_code(code) is None or not version.isdecimal() or len(digest) > 100:
            return None
        item = BulkItemIn(id=code, version=int(version), content_digest=digest)
        return cls(item=item, claimer=claimer)


class BulkRulingForm(forms.Form):
    """One action and one reason for all that the summary showed."""

    action = forms.ChoiceField(choices=_ACTION_CHOICES)
    reason = TypedText(Text)

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        parsed = map(ReadItem.parse, _list_sent(self, "item")[:BULK_LIMIT])
        said["items"] = [each for each in parsed if each]
        if not said["items"]:
            self.add_error(None, _NOTHING)
        if said.get("action") != "approve" and not said.get("reason", "").strip():
            self.add_error("reason", "Say why: the agents are told.")
        return said
