"""What the commands for tokens and for keys share: choosing them, and how they read."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.db.models import QuerySet

from accounts import secrets
from accounts.models import Secret

S = TypeVar("S", bound=Secret)


def add_choice(parser: ArgumentParser, word: str) -> None:
    """Either one of them or all; argparse refuses both and neither."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        f"--{word}",
        dest="secret",
        metavar=word.upper(),
        help=f"the {word} as it is listed, or the whole {word}",
    )
    which.add_argument("--all", action="store_true", help=f"every {word} there is")


def choose_rows(rows: QuerySet[S], options: dict[str, Any], word: str) -> QuerySet[S]:
    """Those that the arguments mean; refused if that is nothing, or not clear."""
    if options["all"]:
        return rows
    given = options["secret"]
    chosen = rows.filter(lookup=secrets.get_prefix(given))
    if len(given) > len(secrets.get_prefix(given)):
        chosen = chosen.filter(digest=secrets.hash_secret(given))
    found = chosen.count()
    if not found:
        raise CommandError(f"There is no {word} that begins so. `list` shows all.")
    if found > 1:
        raise CommandError(f"Several begin so: give the whole {word}.")
    return chosen


def render_rows(rows: QuerySet[S], word: str) -> Iterator[str]:
    """A line for each, the newest first."""
    found = list(rows.order_by("-pk"))
    if not found:
        yield f"There is no {word}."
    for row in found:
        state = (
            f"revoked {_format_moment(row.revoked_at)}"
            if row.revoked_at
            else "in force"
        )
        used = _format_moment(row.last_used_at) if row.last_used_at else "never"
        yield (
            f"{row.lookup}…  made {_format_moment(row.created_at)}  last used {used}  {state}"
        )


def render_revoked(count: int, word: str) -> str:
    things = f"{count} {word}" if count == 1 else f"{count} {word}s"
    return f"{things} revoked: every server takes notice within five seconds."


def _format_moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
