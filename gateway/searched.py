"""What of the entries of steps and calls runs are found by: what their pages show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledger.run_list.words import register_searched

Payload = Mapping[str, Any]
# Where a call says what it would run: in the form that people see, with secrets hidden.
_SHOWN = ("command", "file_path", "arguments_json")


def register_searched_entries() -> None:
    for entry_type in ("step.judged", "step.observed"):
        register_searched(entry_type, list_step_texts)
    register_searched("call.judged", list_call_texts)
    register_searched("run.finished", list_ending_texts)


def list_step_texts(payload: Payload) -> Iterator[str]:
    report = payload["report"]
    yield report["summary"] or ""
    yield report["signature"] or ""


def list_call_texts(payload: Payload) -> Iterator[str]:
    shown = payload["shown"]
    yield payload["tool"]
    for name in _SHOWN:
        if isinstance(shown.get(name), str):
            yield shown[name]
    yield from _list_strings(shown.get("arguments"))


def list_ending_texts(payload: Payload) -> Iterator[str]:
    yield payload.get("summary") or ""


def _list_strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _list_strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _list_strings(each)
