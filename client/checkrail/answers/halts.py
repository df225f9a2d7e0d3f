"""Halts as people's programs read them."""

from __future__ import annotations

from dataclasses import dataclass

from checkrail.answers.parsing import Answer


@dataclass(frozen=True, kw_only=True)
class HaltScope(Answer):
    """What is halted: one of these is not None; `children` are the runs below the run."""

    project: bool | None = None
    agent: str | None = None
    label: str | None = None
    run: str | None = None
    children: bool


@dataclass(frozen=True, kw_only=True)
class Halt(Answer):
    """`state` is standing or released."""

    id: str
    project: str
    scope: HaltScope
    reason: str
    by: str
    at: str
    state: str
    released_by: str | None = None
    released_at: str | None = None
    release_reason: str | None = None
    deadlines_moved_at: str | None = None
