"""What must hold whatever the table says: stated apart from it, in a few broad rules.

The matrix is made from the table, so an operation under a looser rule would agree with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import pytest

from accounts.models import Role
from config.access.operations import OPERATIONS
from config.access.pages import PAGES

ADMIN, MANAGER, REVIEWER = Role.ADMIN, Role.MANAGER, Role.REVIEWER
# All that an agent's key reads: of what is its own, and of the project.
KEYS_READ = {
    *("/runs", "/runs.csv", "/runs/{run}", "/runs/{run}/checkpoints/latest"),
    *("/runs/{run}/events", "/runs/{run}/ledger", "/runs/{run}/notes"),
    *("/runs/{run}/plans", "/runs/{run}/verify", "/runs/{run}/decision"),
    *("/runs/{run}/tool-calls/{call}", "/runs/{run}/gate-checks/{check}"),
    *("/loop/decisions", "/loop/decisions/{decision_id}"),
    *("/loop/notes", "/loop/recommendations"),
}
KEYS_READ_OF_ALL = {
    *("/policies", "/policies/assignments", "/policies/{name}"),
    *("/policies/{name}/diff", "/policies/{name}/versions"),
    "/policies/{name}/versions/{number}",
}
KEYS_SEND = (
    *("/runs", "/evaluate/*", "/otlp/*", "/hooks/*", "/reviews/{review}/withdraw"),
    *("/runs/{run}/steps*", "/runs/{run}/checkpoints", "/runs/{run}/violations"),
    *("/runs/{run}/finish", "/runs/{run}/reviews", "/runs/{run}/plans"),
    *("/runs/{run}/turns", "/runs/{run}/notes/{note}/read"),
    *("/runs/{run}/tool-calls*", "/runs/{run}/gate-checks*"),
    *("/loop/signals", "/loop/notes", "/loop/notes/{note}/*"),
    *("/loop/recommendations", "/loop/decisions/{decision_id}/outcome"),
)
# The least role that changes something there; the first that fits counts.
LEAST: Mapping[str, Role | None] = {
    "* /me/*": None,
    "POST /policies/validate": None,
    "POST /evaluate/*": None,
    **dict.fromkeys(("* /people*", "* /invitations*", "* /agents*"), ADMIN),
    "* /project*": ADMIN,
    **dict.fromkeys(("* /policies*", "* /backtests*", "* /shadows*"), MANAGER),
    **dict.fromkeys(("* /webhooks*", "* /limits*", "DELETE /halts*"), MANAGER),
    **dict.fromkeys(("POST /exemptions", "POST /runs/{run}/reopen"), MANAGER),
    **dict.fromkeys(("* /reviews/*/release", "* /reviews/*/handover"), MANAGER),
    **dict.fromkeys(("* /loop/heartbeat", "* /loop/recommendations/*"), MANAGER),
    "*": REVIEWER,
}
LEAST_ON_PAGES: Mapping[str, Role | None] = {
    **dict.fromkeys(("settings/", "settings/you/*", "settings/keyboard/*"), None),
    **dict.fromkeys(("settings/notifications/*", "*/views/*"), None),
    **dict.fromkeys(("glossary/", "introduction/end/", "ledger/verify/"), None),
    "queue/<uuid:code>/page/": None,
    **dict.fromkeys(("settings/people/?*", "settings/agents/?*"), ADMIN),
    **dict.fromkeys(("settings/project/?*", "settings/start/?*"), ADMIN),
    **dict.fromkeys(("*/activate/", "*/publish/", "*/edit/*", "*/draft/"), MANAGER),
    **dict.fromkeys(("*/shadow/", "*/stop/", "*/again/", "*/cancel/"), MANAGER),
    **dict.fromkeys(("*/exempt/", "*/release/", "*/reopen/", "*/raise/"), MANAGER),
    **dict.fromkeys(("webhooks/?*", "assignments/", "new-policy/"), MANAGER),
    **dict.fromkeys(("loop/resume/", "loop/wake/", "*/adopt/", "*/dismiss/"), MANAGER),
    "*": REVIEWER,
}
# A claim of one's own is given back by whoever has it.
LEAST_ON_PAGES = {"queue/<uuid:code>/release/": REVIEWER, **LEAST_ON_PAGES}
# Read by managers and auditors alone.
SHUT = ("/agents", "/webhooks*")
SHUT_PAGES = (
    "settings/people/*",
    "settings/agents/*",
    "settings/changes/",
    "webhooks/*",
)


def find_least(name: str, rules: Mapping[str, Role | None]) -> Role | None:
    return next(role for rule, role in rules.items() if fnmatchcase(name, rule))


def fits(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(path, each) for each in patterns)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_operation_is_no_looser_than_this(name: str) -> None:
    access = OPERATIONS[name]
    method, path = name.split()
    if access.agents != "none":
        if method == "GET":
            wide = access.agents == "project"
            assert path in (KEYS_READ_OF_ALL if wide else KEYS_READ)
        else:
            assert access.agents == "own"
            assert fits(path, KEYS_SEND)
    if fits(path, SHUT):
        assert access.people is not None
        assert access.people.includes(MANAGER)
    least = find_least(name, LEAST)
    if method != "GET" and access.people is not None and least is not None:
        assert access.people.includes(least)
        assert not access.own
        assert not access.auditors
    if name == "POST /people/{person}/password-link":
        assert not access.tokens


def test_what_needs_nobody_is_as_short_as_this() -> None:
    assert {name for name, access in OPERATIONS.items() if access.is_open} == {
        *("GET /healthz", "GET /readyz", "GET /status", "GET /policies/schema.json")
    }


@pytest.mark.parametrize("address", sorted(PAGES))
def test_a_page_is_no_looser_than_this(address: str) -> None:
    access = PAGES[address]
    least = find_least(address, LEAST_ON_PAGES)
    if least is not None:
        assert access.changes.includes(least)
        assert not access.own
    if fits(address, SHUT_PAGES):
        assert access.reads.includes(MANAGER)
