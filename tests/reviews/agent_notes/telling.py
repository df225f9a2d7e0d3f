"""What tests of notes to agents say, and what they look at."""

from __future__ import annotations

import json
from typing import Any

import httpx
from django.core.management import call_command

from ledger.models import Entry
from tests.support.builders import step


def tell(person: httpx.Client, run: str, text: str, **more: Any) -> str:
    """Write a note; returns its id."""
    answer = person.post(f"/runs/{run}/notes", json={"text": text, **more})
    assert answer.status_code == 201, answer.text
    code: str = answer.json()["id"]
    return code


def report(agent: httpx.Client, run: str, number: int, **more: Any) -> list[str]:
    """Report a step; returns the words that came with its answer."""
    answer = agent.post(f"/runs/{run}/steps", json=step(number, **more))
    assert answer.status_code == 201, answer.text
    return list_words(answer.json())


def list_words(answer: dict[str, Any]) -> list[str]:
    return [note["text"] for note in answer["notes"]]


def list_states(client: httpx.Client, run: str) -> list[str]:
    return [note["state"] for note in list_notes(client, run)]


def list_notes(client: httpx.Client, run: str) -> list[dict[str, Any]]:
    answer = client.get(f"/runs/{run}/notes")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def list_entries(run: str) -> list[tuple[str, dict[str, Any]]]:
    entries = Entry.objects.filter(run__code=run, type__startswith="note.")
    return [
        (entry.type, json.loads(entry.payload)) for entry in entries.order_by("seq")
    ]


def check_ledger(run: str) -> None:
    call_command("replay", run=run)
    call_command("ledger_verify", run=run)
