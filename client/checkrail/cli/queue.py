"""The review queue in a terminal: what waits, what it is, and a person's ruling."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from itertools import islice
from typing import Any

from checkrail.answers import Review, ReviewDetail
from checkrail.answers.reviews import Approval
from checkrail.cli.content import (
    describe_ruling_effect,
    describe_waiting,
    render_content,
    render_waiting_cell,
)
from checkrail.cli.login_file import open_desk
from checkrail.cli.output import (
    format_age,
    list_raw,
    print_error,
    print_folded,
    print_json,
    print_line,
    print_table,
    shorten_id,
)
from checkrail.cli.safe_text import make_one_line
from checkrail.errors import CheckrailError
from checkrail.people import Desk

# What has to be said with a ruling, and the option that says it.
NEEDS_NOTE = frozenset({"skip", "deny"})


def print_queue(options: Namespace) -> int:
    with open_desk() as people:
        found = list(islice(people.reviews(kind=options.kind), options.limit))
    if options.json:
        print_json(list_raw(found))
        return 0
    rows = [
        (
            shorten_id(review.id),
            review.kind,
            format_age(review.opened_at),
            render_waiting_cell(review),
            make_one_line(review.assignee or ""),
            make_one_line(review.agent),
            make_one_line(review.title),
        )
        for review in found
    ]
    print_table(
        ("id", "kind", "waits", "agent waits", "with", "agent", "about"),
        rows,
        empty="Nobody waits for you.",
    )
    return 0


def print_review(options: Namespace) -> int:
    with open_desk() as people:
        review = people.review(_find_id(people, options.id))
    if options.json:
        print_json(review.raw)
    else:
        _print_content(review)
    return 0


def rule(options: Namespace) -> int:
    """Shows what is ruled on, asks, and rules on exactly that version."""
    with open_desk() as people:
        review = people.review(_find_id(people, options.id))
        if not options.json:
            _print_content(review)
        if not options.yes and not _confirm(options.action):
            print_error("Nothing was ruled.")
            return 1
        ruled = people.rule(
            review,
            options.action,
            note=options.note,
            answer=getattr(options, "text", None),
            amended=_parse_amended(options),
            allowance=_parse_allowance(options),
        )
    if options.json:
        print_json(ruled.raw)
    elif ruled.state == "open" and ruled.approvals:
        given, needed = ruled.approvals.given, ruled.approvals.needed
        print_line(
            f"\n{options.action}: {given} of {needed} approvals. Others have to approve it."
        )
    else:
        by = ruled.ruling.by if ruled.ruling else "you"
        print_line(
            f"\n{options.action}: ruled by {by}. {describe_ruling_effect(review)}"
        )
    return 0


def _parse_amended(options: Namespace) -> dict[str, Any] | None:
    """What is to run instead: another command, or other arguments."""
    if options.action != "amend":
        return None
    if options.command is not None:
        return {"command": options.command}
    try:
        return {"arguments": json.loads(options.arguments)}
    except ValueError as error:
        raise CheckrailError(f"--arguments is no JSON: {error}") from None


def _parse_allowance(options: Namespace) -> dict[str, Any] | None:
    """What the run need not ask again."""
    if options.action != "approve":
        return None
    given = {"steps": options.steps, "minutes": options.minutes, "up_to": options.up_to}
    return {name: each for name, each in given.items() if each is not None} or None


def _confirm(action: str) -> bool:
    if not sys.stdin.isatty():
        raise CheckrailError(
            f"Nobody is there to confirm. To {action} without being asked, add --yes."
        )
    return input(f"\n{action.capitalize()} this? [y/N] ").strip().lower() in {
        "y",
        "yes",
    }


def _find_id(people: Desk, given: str) -> str:
    """A whole id, or the end of one that is open."""
    if len(given) >= 32:
        return given
    fitting = [r.id for r in people.reviews() if r.id.endswith(given.lower())]
    if len(fitting) == 1:
        return fitting[0]
    found = "no open review" if not fitting else f"{len(fitting)} open reviews"
    raise CheckrailError(f"{given} fits {found}. See: checkrail queue")


def _print_content(review: ReviewDetail | Review) -> None:
    print_folded(f"{review.kind} · {make_one_line(review.title, limit=300)}")
    print_folded(
        f"agent {make_one_line(review.agent)} · run {review.run} · waits {format_age(review.opened_at)}"
    )
    waiting = describe_waiting(review)
    if waiting:
        print_line(waiting)
    print_line(f"{review.url}\n")
    for line in render_content(review.content):
        print_folded(line)
    if review.approvals:
        given, needed = review.approvals.given, review.approvals.needed
        print_line(f"\nApprovals: {given} of {needed}.")
    for each in getattr(review, "approved_by", ()):
        print_line(f"  {make_one_line(each.by)}{_describe_choice(each)}")
    changed = getattr(review, "amended", None)
    if changed:
        print_line("\nSomebody changed it. To run instead:")
        found = getattr(review, "amended_findings", ())
        for line in render_content({**changed, "findings": [*found]}):
            print_folded(line)
    print_line(f"\nYou may: {', '.join(review.rulings) or 'nothing'}")


def _describe_choice(approval: Approval) -> str:
    """What this person would let the run go on with, and for how long."""
    allowed = approval.allowance
    if allowed is None:
        return ""
    return (
        f": {make_one_line(allowed.gate)} up to {allowed.up_to:g} for "
        f"{allowed.steps:,} steps, {allowed.minutes:,} minutes at most"
    )
