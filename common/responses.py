"""Replies to API requests: built once, sent as they are by whatever server sends them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from typing import Any

from django.http import HttpResponse

# A cell that begins so is computed by spreadsheets, whoever wrote it.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# Spreadsheets take a file for UTF-8 only behind this mark.
_UTF8_MARK = "\ufeff"
# Made once: each answer is written through it. `json.dumps` makes one for each call.
_write = c_make_encoder(
    *(None, json.JSONEncoder().default, encode_basestring, None),
    *(":", ",", False, False, True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The status and JSON text of an answer; `replayed` for a repeated request. Where the
    entry with the number `written_from` in the run's chain gives the same text at any time,
    no copy of it has to be kept."""

    status: int
    body: str
    replayed: bool = False
    written_from: int | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Idempotency-Replayed": "true"} if self.replayed else {}


def build_reply(
    body: dict[str, Any], *, status: int = 200, replayed: bool = False
) -> Reply:
    return Reply(status=status, body=to_json(body), replayed=replayed)


def to_json(value: object) -> str:
    """As answers are written: no spaces, every letter as it is."""
    return "".join(_write(value, 0))


def build_json_response(
    body: str | dict[str, Any] | list[dict[str, Any]],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    text = body if isinstance(body, str) else to_json(body)
    return HttpResponse(
        text,
        status=status,
        content_type="application/json; charset=utf-8",
        headers={
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **(headers or {}),
        },
    )


def build_empty_response() -> HttpResponse:
    """204: done, and there is nothing to say about it."""
    response = HttpResponse(status=204)
    del response["Content-Type"]
    return response


def send_reply(reply: Reply) -> HttpResponse:
    return build_json_response(reply.body, status=reply.status, headers=reply.headers)


def build_csv_headers(name: str) -> dict[str, str]:
    """For a table that is downloaded under this name, in one go or line by line."""
    return {
        "Content-Type": "text/csv; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }


def write_csv_head(names: Iterable[str]) -> str:
    return _UTF8_MARK + write_csv_lines([names])


def write_csv_lines(rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([escape_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def escape_cell(cell: object) -> object:
    """Text that would be a formula gets an apostrophe in front; numbers stay numbers, and
    true and false are as JSON has them."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell
