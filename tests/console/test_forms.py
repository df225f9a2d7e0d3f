"""What people type: one rule for length and redaction, in the console and in the API."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django import forms
from pydantic import BaseModel, ValidationError

from console.forms import ShownNumber, TypedText
from console.loop.forms import PauseForm, ResolveForm
from console.queue.forms import CloseAllForm, CommentForm, RulingForm
from console.runs.forms import AbortForm, ReopenForm
from console.webhooks.forms import WebhookForm
from loop.schemas.incidents import ResolveIn
from loop.schemas.state import SwitchIn
from reviews.schemas.fields import Reason, ShortText
from reviews.schemas.reviews import AbortIn, CommentIn, ReopenIn, RulingIn
from tests.support.rows import each_row
from webhooks.schemas import WebhookIn

ROOT = Path(__file__).resolve().parents[2]
SECRET = "ghp_" + "1a2B3c4D5e6F7g8H9i0J" + "k1L2m3N4o5P6q7R8"
URL = "https://hooks.invalid/"
# Each field in which a person types, and the API's field for the same text with what
# else its body needs.
PAIRS: list[tuple[type[forms.Form], str, type[BaseModel], str, dict[str, Any]]] = [
    (RulingForm, "text", RulingIn, "note", {"action": "approve"}),
    (RulingForm, "text", RulingIn, "answer", {"action": "answer"}),
    (RulingForm, "reason", RulingIn, "note", {"action": "abort"}),
    (CloseAllForm, "reason", RulingIn, "note", {"action": "deny"}),
    (CommentForm, "text", CommentIn, "text", {}),
    (AbortForm, "reason", AbortIn, "reason", {}),
    (ReopenForm, "reason", ReopenIn, "reason", {}),
    (PauseForm, "reason", SwitchIn, "reason", {"project": "p", "paused": True}),
    (ResolveForm, "note", ResolveIn, "note", {}),
    (WebhookForm, "url", WebhookIn, "url", {"types": ["run.paused"]}),
    (
        WebhookForm,
        "description",
        WebhookIn,
        "description",
        {"types": ["run.paused"], "url": URL},
    ),
]
NAMES = ("form", "field", "schema", "name", "beside")
IDS = [f"{form.__name__}.{field}" for form, field, *_ in PAIRS]


def type_into(form: type[forms.Form], field: str, text: str) -> str:
    typed: str = form.base_fields[field].clean(text)
    return typed


@each_row(NAMES, PAIRS, ids=IDS)
def test_a_text_is_as_long_as_the_api_takes_it(
    form: type[forms.Form],
    field: str,
    schema: type[BaseModel],
    name: str,
    beside: dict[str, Any],
) -> None:
    limit = form.base_fields[field].max_length  # type: ignore[attr-defined]
    longest = "x" * limit
    assert type_into(form, field, longest) == longest
    assert getattr(schema(**beside, **{name: longest}), name) == longest
    with pytest.raises(forms.ValidationError, match=f"at most {limit:,} characters"):
        type_into(form, field, longest + "x")
    with pytest.raises(ValidationError, match=f"at most {limit} characters"):
        schema(**beside, **{name: longest + "x"})


@each_row(NAMES, PAIRS, ids=IDS)
def test_a_secret_becomes_of_it_what_it_becomes_in_the_api(
    form: type[forms.Form],
    field: str,
    schema: type[BaseModel],
    name: str,
    beside: dict[str, Any],
) -> None:
    text = f"Use {SECRET} for it"
    sent = getattr(schema(**beside, **{name: text}), name)
    assert type_into(form, field, text) == sent


def test_people_write_to_agents_as_it_is_and_to_the_loop_without_secrets() -> None:
    assert SECRET in type_into(RulingForm, "text", SECRET)
    assert SECRET not in type_into(PauseForm, "reason", SECRET)


@each_row(
    ("typed", "kept"),
    [
        (" a\r\nb\r\n ", "a\nb"),
        ("\r\n" * 4_000, ""),
        ("x\r\n" * 1_333, "x\n" * 1_332 + "x"),
    ],
)
def test_line_ends_are_counted_once(typed: str, kept: str) -> None:
    assert TypedText(Reason).clean(typed) == kept


@each_row("typed", ["", "  ", "\r\n", None])
def test_nothing_is_said_where_nothing_is_typed(typed: str | None) -> None:
    assert TypedText(Reason).clean(typed) == ""
    with pytest.raises(forms.ValidationError, match="Say why"):
        TypedText(Reason, missing="Say why.").clean(typed)


def test_what_cannot_be_stored_is_refused() -> None:
    with pytest.raises(forms.ValidationError, match="cannot be stored"):
        TypedText(ShortText).clean("a\x00b")


@each_row(
    ("text", "number"),
    [("7", 7), ("0", 0), ("", None), ("-1", None), ("1.0", None), ("²", None)],
)
def test_a_number_from_the_page(text: str, number: int | None) -> None:
    assert ShownNumber().clean(text) == number


def test_no_template_knows_a_limit_of_its_own() -> None:
    """A search box is the one field that changes nothing."""
    found = [
        f"{path.name}: {limit}"
        for path in (ROOT / "templates" / "console").rglob("*.html")
        for limit in re.findall(r'name="(\w+)"[^>]*maxlength="\d+"', path.read_text())
        if limit != "q"
    ]
    assert found == []
