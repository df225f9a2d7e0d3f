"""A session of a coding agent is a run of ours, from one prompt to its end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import F

from common.errors import DomainError
from gateway.coding_agents.inputs import HookIn, OptionsIn
from gateway.coding_agents.mapping import shorten
from gateway.coding_agents.session_events import (
    HookEvent,
    SessionRun,
    build_session_run,
)
from gateway.models import HookSession
from gateway.schemas.runs import RunIn
from gateway.use_cases.runs import StartRun, choose_run_policy
from guidance.core.money import parse_usd
from guidance.redactor import clean
from ledger.state import RunState
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread

HOST_NAMES = {"claude-code": "Claude Code", "codex": "Codex"}
TASK_WORDS = 200
MODEL_WORDS = 200
LABEL_WORDS = 256


class SessionHasRun(DomainError):
    """Internal: another event of the session was faster."""


@dataclass(kw_only=True)
class StartSession(StartRun):
    """The first event of a session starts its run; all others find it.

    The project is locked while a run is made, so that of many first events one wins.
    """

    hook: HookEvent
    prompted: bool

    def create(self, at: datetime) -> RunState:
        session = _find_session(self.hook)
        before = session.run if session else None
        if before is not None:
            if not _starts_new_run(before.status, prompted=self.prompted):
                raise SessionHasRun("The session has its run.")
            parent = {"parent_run": str(before.code)}
            self.body = self.body.model_copy(update=parent)
            self.follows = True
        run = super().create(at)
        HookSession.objects.update_or_create(
            **_build_key(self.hook), defaults={"run_id": run.id}
        )
        return run


async def ensure_run(hook: HookEvent, *, prompted: bool = False) -> SessionRun:
    """The session's run, started where there is none yet.

    What a person aborted stays so until somebody at the terminal says something new:
    `prompted`. A run that came to its end is followed by another one in any case.
    """
    session = await run_in_db_thread(partial(_find_session, hook))
    if (
        session is None
        or session.run is None
        or _starts_new_run(session.run.status, prompted=prompted)
    ):
        await _start(hook, session, prompted=prompted)
        session = await run_in_db_thread(partial(_find_session, hook))
    assert session is not None  # made just now, and never deleted
    return build_session_run(session, hook.agent)


async def find_run(hook: HookEvent) -> SessionRun | None:
    """The session's run if it has one: some events start nothing."""
    session = await run_in_db_thread(partial(_find_session, hook))
    if session is None or session.run is None:
        return None
    return build_session_run(session, hook.agent)


async def reload_run(hook: HookEvent) -> SessionRun:
    """The same as it stands now: a person or a gate may have ended it."""
    session = await run_in_db_thread(partial(_find_session, hook))
    assert session is not None  # it was found before
    return build_session_run(session, hook.agent)


async def register_session(hook: HookEvent) -> None:
    """Store a session and its model before its run starts."""
    facts = {"model": shorten(clean(hook.body.model or ""), MODEL_WORDS)}
    await run_in_db_thread(
        lambda: HookSession.objects.update_or_create(**_build_key(hook), defaults=facts)
    )


def is_session_of(session: str, *, agent_id: int) -> bool:
    """Whether this is how the client marks a session of the agent: `host:session`."""
    host, _, name = session.partition(":")
    return HookSession.objects.filter(
        agent_id=agent_id, dialect=host, session=name
    ).exists()


async def mark_headless(run: SessionRun) -> None:
    rows = HookSession.objects.filter(pk=run.session_id)
    await run_in_db_thread(lambda: rows.update(headless=True))


async def store_unreported_usage(run: SessionRun, used: OptionsIn) -> None:
    """Store what was used while the run takes no steps; the next step reports it."""
    rows = HookSession.objects.filter(pk=run.session_id)
    await run_in_db_thread(
        lambda: rows.update(
            owed_tokens=F("owed_tokens") + used.tokens,
            owed_cost_micros=F("owed_cost_micros") + parse_usd(used.cost_usd),
        )
    )


def _starts_new_run(status: str, *, prompted: bool) -> bool:
    return status in {"completed", "failed", "abandoned"} or (
        prompted and status == "aborted"
    )


def _build_key(hook: HookEvent) -> dict[str, Any]:
    return {
        "agent_id": hook.agent.agent_id,
        "dialect": hook.host,
        "session": hook.body.session_id,
    }


def _find_session(hook: HookEvent) -> HookSession | None:
    return HookSession.objects.select_related("run").filter(**_build_key(hook)).first()


async def _start(
    hook: HookEvent, session: HookSession | None, *, prompted: bool
) -> None:
    body = hook.body
    folder = _get_folder(body)
    run = RunIn(
        task=_build_task(hook, folder),
        model=shorten(body.model or (session.model if session else ""), MODEL_WORDS),
        policy=hook.options.policy,
        labels={
            "host": hook.host,
            "folder": folder[:LABEL_WORDS],
            "session": body.session_id,
        },
    )
    policy = await run_in_db_thread(partial(choose_run_policy, hook.agent, run))
    change_request = StartSession(
        agent=hook.agent, body=run, policy=policy, hook=hook, prompted=prompted
    )
    try:
        await get_writer().perform(change_request)
    except SessionHasRun:
        pass  # an event that came at the same time has started it


def _build_task(hook: HookEvent, folder: str) -> str:
    """The first line of what the agent was asked to do; else where it works."""
    lines = (hook.body.prompt or "").strip().splitlines()
    if lines:
        return shorten(lines[0], TASK_WORDS)
    return f"{HOST_NAMES[hook.host]} in {folder}" if folder else HOST_NAMES[hook.host]


def _get_folder(body: HookIn) -> str:
    """The last part of the working directory, of whatever system."""
    parts = [part for part in re.split(r"[/\\]", body.cwd or "") if part]
    return parts[-1] if parts else ""
