"""What a measurement finds in the database: agents with keys, runs, open reviews."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class PreparedRun:
    """A run with the key of its agent; `next_step` moves as steps are stored."""

    code: str
    key: str
    next_step: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedReview:
    """A paused run, and what a person must send to rule on it."""

    code: str
    digest: str
    run: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """`token` is a manager's, `strangers` the keys of two agents of another project;
    `children` are runs of one tree, under every limit that runs can share; `cookies` are
    those of people who have signed in."""

    token: str
    strangers: list[str]
    runs: Sequence[PreparedRun]
    reviews: Sequence[PreparedReview]
    children: Sequence[PreparedRun] = ()
    cookies: Sequence[str] = ()


def fill_database(
    environment: Mapping[str, str],
    *,
    runs: int,
    reviews: int,
    children: int = 0,
    mixed: int = 0,
    projects: int = 1,
) -> Contents:
    """Migrate this environment's database and fill it, in a process of its own. With `mixed`
    open reviews of every kind there are people who have signed in, too. The agents take turns
    in being of one of the `projects`."""
    counts = map(str, (runs, reviews, children, mixed, projects))
    done = subprocess.run(
        [sys.executable, "-m", "bench.servers.fill_database", *counts],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    made = json.loads(done.stdout)
    return Contents(
        token=made["token"],
        strangers=made["strangers"],
        runs=[PreparedRun(**run) for run in made["runs"]],
        reviews=[PreparedReview(**review) for review in made["reviews"]],
        children=[PreparedRun(**run) for run in made["children"]],
        cookies=made["cookies"],
    )
