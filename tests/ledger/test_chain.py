"""The form in which an entry is hashed: for ever the same, and no two share one."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.chain import GENESIS, Link, format_timestamp, hash_link, hash_payload
from ledger.entry_types import get_entry_type

LINK = Link(
    version=1,
    run="019a1b2c-3d4e-7f60-8abc-def012345678",
    seq=12,
    at="2026-01-02T03:04:05.000000Z",
    type="step.judged",
    actor="agent:é",
    payload_sha256=hash_payload("{}"),
    prev_hash=GENESIS,
)


def test_a_moment_has_one_spelling() -> None:
    cases = {
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC): "2026-01-02T03:04:05.000000Z",
        datetime(2026, 1, 2, 3, 4, 5, 60, tzinfo=UTC): "2026-01-02T03:04:05.000060Z",
        datetime(
            2026, 1, 2, 1, tzinfo=timezone(timedelta(hours=2))
        ): "2026-01-01T23:00:00.000000Z",
    }
    assert {at: format_timestamp(at) for at in cases} == cases


def test_the_hash_of_an_entry_never_changes() -> None:
    """Whoever has kept a receipt recomputes it by the documented form."""
    assert hash_link(LINK) == (
        "47f5eb9b4b4a2f8c10a935b4362c270e31d4d6be48006ba2398c9fb368f2ac48"
    )
    assert GENESIS == "0" * 64


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.integers(0, 2**63),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=130)
    | st.sampled_from(["a" * 127, "a" * 128, "é" * 127]),
    st.sampled_from([1, 2]),
)
def test_every_field_stands_behind_its_length(
    run: str, seq: int, actor: str, version: int
) -> None:
    link = LINK._replace(version=version, run=run, seq=seq, actor=actor)
    fields = ["checkrail.entry", *map(str, link)]
    raw = [field.encode() for field in fields]
    form = b"".join(len(each).to_bytes(4, "big") + each for each in raw)
    assert hash_link(link) == hashlib.sha256(form).hexdigest()


@pytest.mark.parametrize(
    "changed",
    [
        {"run": LINK.run[:-1] + "9"},
        {"seq": 13},
        {"at": "2026-01-02T03:04:05.000001Z"},
        {"type": "step.judge"},
        {"actor": "agent:e"},
        {"payload_sha256": hash_payload("[]")},
        {"prev_hash": "1" + GENESIS[1:]},
        # The border between two fields is part of the form.
        {"type": "step.judgedagent", "actor": ":é"},
    ],
    ids=lambda changed: "+".join(changed),
)
def test_every_field_counts(changed: dict[str, str]) -> None:
    assert hash_link(LINK._replace(**changed)) != hash_link(LINK)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "actor", ["", "é", "a" * 127, "a" * 128, "a" * 300, "é" * 127, "\x7f", "\x80"]
)
def test_fields_of_any_length_stand_behind_it_in_four_bytes(actor: str) -> None:
    link = LINK._replace(actor=actor)
    fields = ["checkrail.entry", *map(str, link)]
    raw = [field.encode() for field in fields]
    form = b"".join(len(each).to_bytes(4, "big") + each for each in raw)
    assert hash_link(link) == hashlib.sha256(form).hexdigest()


def test_what_is_not_known_is_an_error() -> None:
    for version in (0, 3):
        with pytest.raises(ValueError, match=f"format {version} is not known"):
            hash_link(LINK._replace(version=version))
    with pytest.raises(ValueError, match=r"run\.unheard is not known"):
        get_entry_type("run.unheard")
