"""The keys that a person chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from console.preferences.keys import GROUPS, Key, list_actions

# They pick an offered answer.
_DIGITS = frozenset("123456789")


class KeyboardForm(forms.Form):
    """One field for each action, named by its usual key; an empty one has no key."""

    single_keys = forms.BooleanField(required=False)
    opens_next = forms.BooleanField(required=False)
    takes_back = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for action in list_actions():
            self.fields[f"key-{action.usual}"] = forms.CharField(
                required=False, label=action.label
            )

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        owners: dict[str, str] = {}
        for action in list_actions():
            name = f"key-{action.usual}"
            key = said.get(name, "").lower()
            said[name] = key
            if not key:
                continue
            if len(key) != 1 or not "!" <= key <= "~":
                self.add_error(name, "One letter or sign of the keyboard, or nothing.")
            elif key in _DIGITS:
                self.add_error(name, "The digits pick an offered answer.")
            elif key in owners:
                self.add_error(name, f"{owners[key]} has this key already.")
            else:
                owners[key] = action.label
        return said

    def get_changes(self) -> dict[str, str]:
        """Only what differs from the usual keys."""
        chosen = {
            action.usual: self.cleaned_data[f"key-{action.usual}"]
            for action in list_actions()
        }
        return {usual: key for usual, key in chosen.items() if key != usual}


def build_initial(
    *, single_keys: bool, opens_next: bool, takes_back: bool, changed: Mapping[str, str]
) -> dict[str, Any]:
    keys = {
        f"key-{action.usual}": changed.get(action.usual, action.usual)
        for action in list_actions()
    }
    return {
        "single_keys": single_keys,
        "opens_next": opens_next,
        "takes_back": takes_back,
        **keys,
    }


def list_field_groups(
    form: KeyboardForm,
) -> Iterator[tuple[str, list[tuple[Key, forms.BoundField]]]]:
    """Each key beside its field, as the page lists them."""
    for name, actions in GROUPS.items():
        fields = []
        for action in actions:
            field = form[f"key-{action.usual}"]
            now = str(field.value() or "")
            key = Key(usual=action.usual, label=action.label, now=now)
            fields.append((key, field))
        yield name, fields
