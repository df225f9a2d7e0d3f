"""A policy reads as it is: what a second manager approves hides no character."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Project
from guidance.yaml_documents import parse_yaml, write_yaml
from reviews.policies.services import create_version
from safetext.characters import Invisible, get_reason
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

ODD = "\u202eevil\u200b\u2066"
DOCUMENT: dict[str, Any] = {
    "gates": {
        "own": {
            "name": f"Tests{ODD}",
            "description": f"They pass.\nAll{ODD}",
            "severity": "high",
            "criteria": [f"Each fault has a test{ODD}", {"text": f"Green{ODD}"}],
            "guidance": f"Run them{ODD}",
        }
    },
    "tools": {
        "schemas": {"db": {"title": f"Row{ODD}", "type": "object"}},
        "patterns": [
            {
                "name": "production",
                "pattern": f"prod{ODD}",
                "decision": "block",
                "message": f"Names it{ODD}",
            }
        ],
    },
    "turns": {"models": {"small-*": {"intent_phrases": [f"go{ODD}"]}}},
    "prices": {"models": {"own": {"input_usd": "1", "output_usd": "2"}}},
    "evaluators": {"forbidden_commands": {"commands": [f"terraform{ODD}"]}},
}
PAGES = (
    *("policies/", "policies/odd/", "policies/odd/versions/1/", "policies/odd/edit/"),
    *("policies/odd/versions/2/", "policies/odd/edit/?version=2", "new-policy/"),
    *("policies/odd/compare/?from=1&to=2", "policies/odd/suggestions/", "assignments/"),
    "gates/",
)


def test_no_page_of_a_policy_shows_a_hidden_character(
    project: Project, alice: Person
) -> None:
    other = {**DOCUMENT, "tools": {"sql_arguments": ["db.sql"]}}
    for document in (DOCUMENT, other):
        create_version(
            project_id=project.pk,
            name="odd",
            document=document,
            note=f"Why{ODD}",
            activate=document is DOCUMENT,
        )
    client = open_browser(alice.user)
    raw = []
    for page in PAGES:
        answer = client.get(f"/p/{project.slug}/{page}")
        assert answer.status_code == 200, page
        text = answer.content.decode()
        raw += [
            f"{page}: …{text[max(at - 90, 0) : at + 9]!r}"
            for at, sign in enumerate(text)
            if sign in "\u202e\u200b\u2066"
        ]
    assert raw == []


def test_what_is_written_is_read_as_the_same() -> None:
    text = write_yaml(DOCUMENT)
    assert parse_yaml(text).document == DOCUMENT
    assert "\\u202E" in text
    assert not {*ODD} & {"\u202e", "\u200b"} & {*text}


def test_every_character_that_is_not_seen_is_written_out() -> None:
    """All that other pages show as ⟨U+…⟩; half a surrogate pair is in no document, and of
    what Unicode has given nobody a few do."""
    unseen = [
        sign
        for sign in map(
            chr, (*range(0xA0, 0x3400), *range(0xF8F0, 0x20000, 3), 0xE0001)
        )
        if get_reason(sign) not in (None, Invisible.BRACKET, Invisible.SURROGATE)
    ]
    assert len(unseen) > 1_000
    written = write_yaml({"texts": ["".join(unseen), "é ü 漢 😀 “so” – … ✓"]})
    assert not {*unseen} & {*written}
    assert "é ü 漢 😀 “so” – … ✓" in written
    assert parse_yaml(written).document["texts"][0] == "".join(unseen)
