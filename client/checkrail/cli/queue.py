"""The review queue in a terminal: what waits, what it is, and a person's ruling."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from itertools import islice
from typing import Any

from checkrail.answers import Review, ReviewDetail
from checkrail.cli.content import (
    content_lines,
    ruled_sentence,
    waiting_cell,
    waiting_sentence,
)
from checkrail.cli.login_file import desk
from checkrail.cli.output import (
    age,
    as_json,
    complain,
    raw,
    say,
    say_folded,
    short,
    table,
)
from checkrail.cli.safe_text import one_line
from checkrail.errors import CheckrailError
from checkrail.people import Desk

# What has to be said with a ruling, and the option that says it.
NEEDS_NOTE = frozenset({"skip", "deny"})


def queue(options: Namespace) -> int:
    with desk() as people:
        found = list(islice(people.reviews(kind=options.kind), options.limit))
    if options.json:
        as_json(raw(found))
        return 0
    rows = [
        (
            short(review.id),
            review.kind,
            age(review.opened_at),
            waiting_cell(review),
            one_line(review.assignee or ""),
            one_line(review.agent),
            one_line(review.title),
        )
        for review in found
    ]
    table(
        ("id", "kind", "waits", "agent waits", "with", "agent", "about"),
        rows,
        empty="Nobody waits for you.",
    )
    return 0


def show(options: Namespace) -> int:
    with desk() as people:
        review = people.review(_full_id(people, options.id))
    if options.json:
        as_json(review.raw)
    else:
        _print(review)
    return 0


def rule(options: Namespace) -> int:
    """Shows what is ruled on, asks, and rules on exactly that version."""
    with desk() as people:
        review = people.review(_full_id(people, options.id))
        if not options.json:
            _print(review)
        if not options.yes and not _sure(options.action):
            complain("Nothing was ruled.")
            return 1
        ruled = people.rule(
            review,
            options.action,
            note=options.note,
            answer=getattr(options, "text", None),
            amended=_amended(options),
        )
    if options.json:
        as_json(ruled.raw)
    else:
        by = ruled.ruling.by if ruled.ruling else "you"
        say(f"\n{options.action}: ruled by {by}. {ruled_sentence(review)}")
    return 0


def _amended(options: Namespace) -> dict[str, Any] | None:
    """What is to run instead: another command, or other arguments."""
    if options.action != "amend":
        return None
    if options.command is not None:
        return {"command": options.command}
    try:
        return {"arguments": json.loads(options.arguments)}
    except ValueError as error:
        raise CheckrailError(f"--arguments is no JSON: {error}") from None


def _sure(action: str) -> bool:
    if not sys.stdin.isatty():
        raise CheckrailError(
            f"Nobody is there to confirm. To {action} without being asked, add --yes."
        )
    return input(f"\n{action.capitalize()} this? [y/N] ").strip().lower() in {
        "y",
        "yes",
    }


def _full_id(people: Desk, given: str) -> str:
    """A whole id, or the end of one that is open."""
    if len(given) >= 32:
        return given
    fitting = [r.id for r in people.reviews() if r.id.endswith(given.lower())]
    if len(fitting) == 1:
        return fitting[0]
    found = "no open review" if not fitting else f"{len(fitting)} open reviews"
    raise CheckrailError(f"{given} fits {found}. See: checkrail queue")


def _print(review: ReviewDetail | Review) -> None:
    say_folded(f"{review.kind} · {one_line(review.title, limit=300)}")
    say_folded(
        f"agent {one_line(review.agent)} · run {review.run} · waits {age(review.opened_at)}"
    )
    waiting = waiting_sentence(review)
    if waiting:
        say(waiting)
    say(f"{review.url}\n")
    for line in content_lines(review.content):
        say_folded(line)
    say(f"\nYou may: {', '.join(review.rulings) or 'nothing'}")
