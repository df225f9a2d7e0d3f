"""What a ruling asks of a person grows with how severe the review is."""

from __future__ import annotations

import pytest

from console.queue.kinds.base import Button
from console.queue.kinds.proportion import fit_buttons


@pytest.mark.parametrize(
    ("severity", "twice", "reasons"),
    [
        ("low", [], []),
        ("medium", [], []),
        ("high", ["approve", "answer"], ["deny"]),
        ("critical", [], ["approve", "deny"]),
    ],
)
def test_keys_and_reasons(severity: str, twice: list[str], reasons: list[str]) -> None:
    buttons = [
        Button(action=action, label=action.title(), icon="x", key=action[0])
        for action in ("approve", "answer", "deny")
    ]
    fitted = fit_buttons(buttons, severity)
    assert [button.action for button in fitted if button.twice] == twice
    assert [button.action for button in fitted if button.needs_note] == reasons
    assert all(severity in button.why for button in fitted if button.needs_note)
