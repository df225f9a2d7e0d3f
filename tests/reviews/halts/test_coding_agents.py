"""A halted coding agent is told by whom and why, and does nothing."""

from __future__ import annotations

import httpx
import pytest

from ledger.models import Entry
from tests.gateway.coding_agents.hosts import Host, decision, reason
from tests.reviews.halts.halting import halt, release

HARMLESS, ASKED = "ls -la", "rm -rf build"


@pytest.mark.parametrize("dialect", ["claude-code", "codex"])
def test_no_tool_runs_while_it_is_halted(
    agent: httpx.Client, manager: httpx.Client, dialect: str
) -> None:
    host = Host(client=agent, dialect=dialect)
    made = halt(manager, reason="Look at it")
    why = f"Halted by {made['by']}: Look at it"
    answer = host.before(HARMLESS)
    assert (decision(answer), reason(answer)) == ("deny", why)
    release(manager, made)
    host.before(HARMLESS)
    again = halt(manager, reason="Look at it")
    answer = host.before(HARMLESS, "toolu_2")
    assert (decision(answer), reason(answer)) == ("deny", why)
    after = host.after(HARMLESS)
    assert (after["continue"], after["stopReason"]) == (False, why)
    settled = Entry.objects.filter(run=host.run, type="call.settled")
    assert settled.exists(), "what has run is told"
    release(manager, again)


def test_a_hook_that_is_held_is_answered(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    claude = Host(client=agent)
    waiting = claude.parked(lambda: claude.before(ASKED))
    made = halt(reviewer, reason="Look at it")
    answer = waiting.result(timeout=60)
    assert decision(answer) == "deny"
    assert reason(answer) == f"Halted by {made['by']}: Look at it"
