"""Runs in a terminal: the newest ones, and one as it goes."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from itertools import islice
from typing import Any

from checkrail.answers import RunState
from checkrail.cli.login_file import open_desk
from checkrail.cli.output import (
    format_age,
    list_raw,
    print_error,
    print_json,
    print_line,
    print_table,
    shorten_id,
)
from checkrail.cli.safe_text import make_one_line
from checkrail.errors import CheckrailError
from checkrail.people import Desk

# Of a payload, the first of these that is there says most about the entry.
TEXT_FIELDS = ("decision", "action", "summary", "reason", "title", "command", "outcome")


def print_runs(options: Namespace) -> int:
    with open_desk() as people:
        listed = people.runs(status=options.status, agent=options.agent, q=options.q)
        found = list(islice(listed, options.limit))
    if options.json:
        print_json(list_raw(found))
        return 0
    rows = [
        (
            shorten_id(run.id),
            _render_status(run),
            str(run.last_step),
            format_age(run.updated_at),
            make_one_line(run.agent),
            make_one_line(run.task, limit=60),
        )
        for run in found
    ]
    print_table(
        ("id", "status", "steps", "last activity", "agent", "task"),
        rows,
        empty="No runs yet. An agent starts one with Checkrail().run(...).",
    )
    return 0


def _render_status(run: RunState) -> str:
    """What OpenTelemetry tells of is watched and not gated; the label is reserved."""
    observed = run.labels.get("source") == "opentelemetry"
    return f"{run.status}, observed" if observed else run.status


def follow_run(options: Namespace) -> int:
    with open_desk() as people:
        run = _find_id(people, options.run)
        after = options.after
        if after is None:
            # The last few say where it stands; the rest is in `checkrail runs`.
            after = max(0, people.run(run).head.seq - options.lines)
        for entry in people.tail(run, after=after):
            if options.json:
                print_json(entry.raw)
            else:
                print_line(
                    _render_entry(
                        entry.seq, entry.at, entry.type, entry.actor, entry.payload
                    )
                )
    return 0


def _render_entry(
    seq: int, at: str, kind: str, actor: str, payload: Mapping[str, Any]
) -> str:
    text = next((str(payload[name]) for name in TEXT_FIELDS if payload.get(name)), "")
    when = at[11:19]
    shown = make_one_line(text, limit=100)
    return f"{seq:>5}  {when}  {kind:<18} {make_one_line(actor, limit=24):<24} {shown}".rstrip()


def revoke_allowances(options: Namespace) -> int:
    """All of a run's, or the one that is named."""
    with open_desk() as people:
        run = people.run(_find_id(people, options.run))
        chosen = [
            each.id
            for each in run.allowances
            if options.allowance in (None, each.id) or each.gate == options.allowance
        ]
        for each in chosen:
            run = people.revoke_allowance(run.id, each)
    if options.json:
        print_json(run.raw)
    elif chosen:
        print_line(f"Taken back: {len(chosen)}. The run asks again.")
    else:
        print_error("Nothing of the kind is allowed to this run.")
    return 0 if chosen else 1


def tell_agent(options: Namespace) -> int:
    """It goes on meanwhile, and hears it with its next answer."""
    with open_desk() as people:
        run = people.run(_find_id(people, options.run))
        note = people.tell(run.id, options.text, tags=options.tag)
    if options.json:
        print_json(note.raw)
    else:
        agent = make_one_line(run.agent, limit=60)
        print_line(f"Told {agent}: it hears it with its next step, call or decision.")
    return 0


def _find_id(people: Desk, given: str) -> str:
    """A whole id, or the end of one among the newest runs."""
    if len(given) >= 32:
        return given
    newest = islice(people.runs(), 200)
    fitting = [run.id for run in newest if run.id.endswith(given.lower())]
    if len(fitting) == 1:
        return fitting[0]
    found = "none" if not fitting else str(len(fitting))
    raise CheckrailError(
        f"{given} fits {found} of the newest runs. See: checkrail runs"
    )
