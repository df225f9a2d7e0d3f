"""Halts in a terminal: what stands, stop something, let it go on."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from checkrail.answers import Halt
from checkrail.cli.login_file import open_desk
from checkrail.cli.output import (
    format_age,
    list_raw,
    print_json,
    print_line,
    print_table,
)
from checkrail.cli.safe_text import make_one_line


def print_halts(options: Namespace) -> int:
    state = None if options.all else "standing"
    with open_desk() as people:
        found = list(people.halts(state=state))
    if options.json:
        print_json(list_raw(found))
        return 0
    rows = [
        (
            halt.id,
            halt.state,
            format_age(halt.at),
            make_one_line(halt.by),
            _describe_scope(halt),
            make_one_line(halt.reason, limit=60),
        )
        for halt in found
    ]
    headings = ("id", "state", "since", "by", "what", "why")
    print_table(headings, rows, empty="Nothing is halted.")
    return 0


def halt(options: Namespace) -> int:
    with open_desk() as people:
        made = people.halt(
            _build_scope(options), options.reason, project=options.in_project
        )
    return _print_one(made, options, f"Halted {_describe_scope(made)}: {made.id}")


def release(options: Namespace) -> int:
    kept = [{"agent": name} for name in options.keep_agent]
    kept += [{"label": text} for text in options.keep_label]
    with open_desk() as people:
        released = people.release_halt(options.id, options.reason, keep=kept)
    return _print_one(released, options, f"Released {_describe_scope(released)}.")


def _print_one(found: Halt, options: Namespace, words: str) -> int:
    if options.json:
        print_json(found.raw)
    else:
        print_line(words)
    return 0


def _build_scope(options: Namespace) -> Mapping[str, Any]:
    if options.agent:
        return {"agent": options.agent}
    if options.label:
        return {"label": options.label}
    if options.run:
        return {"run": options.run, "children": options.children}
    return {"project": True}


def _describe_scope(halt: Halt) -> str:
    scope = halt.scope
    if scope.agent is not None:
        return f"the agent {make_one_line(scope.agent)}"
    if scope.label is not None:
        return f"runs labelled {make_one_line(scope.label)}"
    if scope.run is not None:
        below = " and its children" if scope.children else ""
        return f"the run {scope.run}{below}"
    return f"the project {make_one_line(halt.project)}"
