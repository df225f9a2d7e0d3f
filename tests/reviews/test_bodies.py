"""The bodies people's and agents' programs send: taken up to their limits, no further."""

from __future__ import annotations

from typing import Annotated, Any

import httpx
import pytest
from django.utils import timezone
from pydantic import BaseModel, TypeAdapter, ValidationError

from common.ids import uuid7
from common.paging import PageQuery, ProjectQuery
from ledger.models import Run
from reviews.checks import open_warnings
from reviews.models import AdvisoryWarning
from reviews.schemas import fields
from reviews.schemas.calls import CommandBody, EditBody, MultiEditBody, ToolBody
from reviews.schemas.exemptions import ExemptionIn
from reviews.schemas.reviews import (
    AbortIn,
    BudgetIn,
    CommentIn,
    RememberIn,
    ReopenIn,
    RulingIn,
)
from tests.support.builders import start_run

RULING = {"action": "approve"}
SCOPE = {"scope": "exact"}
EXEMPTION = {"call": "x" * 36, "fingerprint": "0123abcd", "reason": "why"}
EDIT = {"file_path": "a", "content": ""}
ITEM = {"old": "a", "new": "b"}
EDITS = {"file_path": "a", "original": "a", "edits": [ITEM]}

# A body, the rest of it, a field, what is taken at the limit, what is beyond it.
LIMITS: list[tuple[type[BaseModel], dict[str, Any], str, list[Any], list[Any]]] = [
    (PageQuery, {}, "limit", [1, 200], [0, 201]),
    (PageQuery, {}, "cursor", ["", "x" * 400], ["x" * 401, "a\0b"]),
    (ProjectQuery, {}, "project", ["x" * 400], ["x" * 401, "\0"]),
    (RememberIn, {}, "scope", ["exact", "shape"], ["all", ""]),
    (RememberIn, SCOPE, "hours", [1, 720], [0, 721, 1.0, True]),
    (RememberIn, SCOPE, "uses", [1, 1_000], [0, 1_001, "1"]),
    (BudgetIn, {}, "tokens", [None, 0, 10**15], [-1, 10**15 + 1, 1.5, "1"]),
    (BudgetIn, {}, "tool_calls", [None, 0, 10**15], [-1, 10**15 + 1]),
    (BudgetIn, {}, "time_ms", [None, 0, 10**15], [-1, 10**15 + 1]),
    (BudgetIn, {}, "cost_usd", [None, "0", "999999999.999999"], ["1000000000"]),
    (BudgetIn, {}, "cost_usd", ["0.5"], ["-1", "01", "1.", ".5", "0.1234567", 1]),
    (AbortIn, {}, "reason", ["", "x" * 4_000], ["x" * 4_001]),
    (ReopenIn, {}, "reason", ["x", "x" * 4_000], ["", "x" * 4_001]),
    (CommentIn, {}, "text", ["x", "x" * 20_000], ["", "x" * 20_001]),
    (RulingIn, RULING, "note", ["", "x" * 20_000], ["x" * 20_001]),
    (RulingIn, RULING, "answer", [None, "x" * 20_000], ["x" * 20_001]),
    (RulingIn, RULING, "version", [1, 2**31 - 1], [0, 2**31, "1"]),
    (RulingIn, RULING, "content_digest", ["x" * 100], ["x" * 101]),
    (RulingIn, {}, "action", ["deny", "amend"], ["delete", ""]),
    (ExemptionIn, EXEMPTION, "reason", ["x" * 4_000], ["", "  ", "x" * 4_001]),
    (ExemptionIn, EXEMPTION, "fingerprint", ["abcdef01"], ["ABCDEF01", "0" * 9, ""]),
    (ExemptionIn, EXEMPTION, "call", ["y" * 36], ["y" * 35, "y" * 37]),
    (CommandBody, {}, "command", ["x"], [""]),
    (EditBody, EDIT, "file_path", ["x" * 4_096], ["", "x" * 4_097]),
    (EditBody, EDIT, "diff_lines", [None, 0, 10**7], [-1, 10**7 + 1]),
    (MultiEditBody, EDITS, "edits", [[ITEM], [ITEM] * 1_000], [[], [ITEM] * 1_001]),
    (MultiEditBody, EDITS, "file_path", ["x" * 4_096], ["", "x" * 4_097]),
    (ToolBody, {}, "tool", ["a"], ["", " a", "a\n"]),
]


@pytest.mark.parametrize(
    ("body", "rest", "field", "taken", "beyond"),
    LIMITS,
    ids=[f"{number}-{row[0].__name__}-{row[2]}" for number, row in enumerate(LIMITS)],
)
def test_a_field_is_taken_up_to_its_limit(
    body: type[BaseModel],
    rest: dict[str, Any],
    field: str,
    taken: list[Any],
    beyond: list[Any],
) -> None:
    for value in taken:
        read = body.model_validate({**rest, field: value})
        if field != "edits":
            assert getattr(read, field) == value
    for value in beyond:
        with pytest.raises(ValidationError) as refused:
            body.model_validate({**rest, field: value})
        assert field in str(refused.value)


def test_what_is_left_out_has_its_default() -> None:
    remember = RememberIn(scope="exact")
    assert (remember.hours, remember.uses) == (8, 50)
    assert (PageQuery().limit, PageQuery().cursor) == (50, None)
    ruling = RulingIn(action="deny")
    given = (ruling.version, ruling.content_digest, ruling.answer, ruling.remember)
    assert (given, ruling.note) == ((None,) * 4, "")


def test_a_body_takes_no_field_that_it_does_not_know() -> None:
    for body, rest, field, taken, _ in LIMITS:
        if body not in (PageQuery, ProjectQuery):
            with pytest.raises(ValidationError, match="unknown"):
                body.model_validate({**rest, field: taken[0], "unknown": 1})


def test_arguments_come_in_one_form() -> None:
    with pytest.raises(ValidationError, match="not both"):
        ToolBody(tool="a", arguments={}, arguments_json="{}")
    assert (
        ToolBody(tool="a").build_call() == ToolBody(tool="a", arguments={}).build_call()
    )


def test_what_is_too_long_is_cut_or_told_apart() -> None:
    """A text may end early; a name must never become another one's."""
    cut: TypeAdapter[str] = TypeAdapter(Annotated[str, fields.redact_and_cut(5)])
    assert cut.validate_python("abcde") == "abcde"
    assert cut.validate_python("abcdef") == "abcd…"
    named: TypeAdapter[str] = TypeAdapter(Annotated[str, fields.redact_and_hash(5)])
    assert named.validate_python("abcde") == "abcde"
    long = [named.validate_python(text) for text in ("abcdef", "abcdeg")]
    assert all(each.startswith("sha256:") and len(each) == 71 for each in long)
    assert long[0] != long[1]


def test_only_ones_own_warnings_that_nobody_has_seen_are_told(
    agent: httpx.Client,
) -> None:
    run, other = (Run.objects.get(code=start_run(agent)) for _ in range(2))
    now = timezone.now()
    made = [
        AdvisoryWarning.objects.create(
            run=of, check_code=uuid7(), text=text, at=now, acknowledged_at=seen
        )
        for of, text, seen in (
            (other, "theirs", None),
            (run, "first", None),
            (run, "seen", now),
            (run, "second", None),
        )
    ]
    assert open_warnings(run.pk) == [
        {"id": str(row.code), "check": str(row.check_code), "text": row.text}
        for row in (made[1], made[3])
    ]
    AdvisoryWarning.objects.filter(pk__in=[row.pk for row in made]).delete()
