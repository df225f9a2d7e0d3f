"""The recorded day comes out as before, and has everything in it that the product has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.compare import list_differences
from tests.golden.recording import RECORDED, play_recorded_day

# Of each kind what the day does not have yet, or cannot have. The lists only get shorter.
_ENTRIES = [
    # Only a state that was stored before secrets were looked for can be redacted.
    "checkpoint.redacted",
    # An action of the loop that a person is asked about.
    "loop.resolved",
    # How long a model took is measured.
    "model.asked",
    # A hash of an older kind, and the command that gives a password.
    "password.rehashed",
    "person.password_given",
]
NOT_RECORDED = {
    "answers": ["POST /policies/{name}/suggestions/draft"],
    "entries of format 1": _ENTRIES,
    "entries of format 2": _ENTRIES,
    # They refuse nobody, or answer each refusal as one that goes on.
    "refusals": [
        "GET /healthz",
        "GET /policies/schema.json",
        "GET /readyz",
        "GET /status",
        "POST /hooks/{dialect}/{event}",
    ],
}


@pytest.fixture(scope="module")
def played() -> Iterator[Path]:
    with play_recorded_day() as folder:
        yield folder


def test_the_recorded_day_comes_out_as_before(played: Path) -> None:
    differences = list_differences(RECORDED, played)
    assert not differences, "\n".join(differences)


def test_everything_there_is_has_its_place_in_the_day(played: Path) -> None:
    """Each type of entry, operation, page and event; `missing` names what the day left out."""
    missing: dict[str, list[str]] = {}
    for path in sorted(played.glob("missing_*.json")):
        missing |= json.loads(path.read_text())
    assert {what: names for what, names in missing.items() if names} == NOT_RECORDED


def test_a_difference_is_told_in_words(tmp_path: Path) -> None:
    for folder, word in (("before", "Go on"), ("after", "Stop")):
        file = tmp_path / folder / "answers" / "steps.txt"
        file.parent.mkdir(parents=True)
        file.write_text(f"=== robo: POST /runs\n--- 201\n{word}\n")
    (told,) = list_differences(tmp_path / "before", tmp_path / "after")
    assert told.splitlines() == [
        "answers/steps.txt: 2 lines differ, in robo: POST /runs",
        "    @@ -2,2 +2,2 @@",
        "     --- 201",
        "    -Go on",
        "    +Stop",
    ]
