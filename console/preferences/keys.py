"""The single keys of the console, and what a person made of them.

A control names its key as it usually is (`data-hotkey`); the screen answers to the key that
the person chose instead (`static/js/key_map.js`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from console.models import Preferences


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """`usual` is its key unless a person chose another one."""

    usual: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """`now` is empty where the person wants no key for it."""

    usual: str
    label: str
    now: str

    @property
    def shown(self) -> str:
        return self.now.upper()


GROUPS: dict[str, tuple[Action, ...]] = {
    "The list": (
        Action(usual="j", label="Next"),
        Action(usual="k", label="Previous"),
        Action(usual="o", label="Show each of those that are alike, or fold them"),
        Action(
            usual="x", label="Select the row; keys that rule then act on all selected"
        ),
        Action(usual="/", label="Search"),
    ),
    "The review on screen": (
        Action(usual="a", label="Approve, or send the answer"),
        Action(usual="e", label="Change a call, then approve it"),
        Action(usual="d", label="Deny"),
        Action(usual="r", label="Retry a gate with guidance"),
        Action(usual="s", label="Skip a gate, with a reason"),
        Action(usual="p", label="Show the next page of a long call"),
        Action(usual="b", label="Abort the run (asks first)"),
        Action(usual="l", label="After a ruling: select all that wait just like it"),
        Action(usual="c", label="Claim, or release"),
        Action(usual="t", label="Assign, or hand over"),
        Action(usual="m", label="Write a message to the agent"),
        Action(usual="w", label="Set aside, or bring back"),
        Action(usual="n", label="Write a note"),
        Action(usual="z", label="Take a ruling back"),
    ),
    "Everywhere": (
        Action(usual="g", label="Go to a page: press its letter next"),
        Action(usual="?", label="Keyboard help"),
    ),
}
# Behind the key that goes to a page.
PAGES = (
    ("q", "Review queue"),
    ("o", "Overview"),
    ("r", "Runs"),
    ("u", "Rulings"),
    ("p", "Policies"),
    ("g", "Gates"),
    ("m", "Permissions"),
    ("i", "Limits"),
    ("l", "Loop"),
    ("h", "Halts"),
    ("e", "Ledger"),
    ("t", "Tool gateway"),
    ("w", "Webhooks"),
    ("s", "Settings"),
)


def list_actions() -> Iterator[Action]:
    for actions in GROUPS.values():
        yield from actions


def list_key_groups(changed: Mapping[str, str]) -> list[tuple[str, list[Key]]]:
    return [
        (
            name,
            [
                Key(
                    usual=action.usual,
                    label=action.label,
                    now=changed.get(action.usual, action.usual),
                )
                for action in actions
            ],
        )
        for name, actions in GROUPS.items()
    ]


def format_changes(preferences: Preferences) -> str:
    """As the page hands it to its script."""
    return json.dumps(preferences.changed_keys, sort_keys=True)
