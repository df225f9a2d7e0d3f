"""Which problems each operation can answer with: one table, and rules for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import groupby
from typing import Any

from common.errors import (
    BadEncoding,
    DomainError,
    DuplicateKey,
    Forbidden,
    Invalid,
    Malformed,
    NotFound,
    PreconditionRequired,
    RateLimited,
    RequestTimeout,
    StaleVersion,
    TooLarge,
    Unauthenticated,
    Unavailable,
    Unchanged,
    UnsupportedMedia,
)
from config.fastpath.problems import MEDIA_TYPE
from config.openapi.examples import PROBLEMS
from ledger.idempotency import KeyReused
from ledger.writer.halts import Halted
from reviews.errors import (
    AlreadyRuled,
    FourEyes,
    GrantExpired,
    GrantMismatch,
    GrantSpent,
    LimitReached,
    ReviewExpired,
    ReviewOpen,
    RunClosed,
    RunPaused,
    ShadowRunning,
    StepConflict,
    StepOutOfOrder,
)

Problems = tuple[type[DomainError], ...]

# What an operation refuses because of the state that something is in, or because its
# body or query names a project that the caller is not in.
OWN: Mapping[str, Problems] = {
    "start_run": (RunClosed, Halted, LimitReached),
    "report_step": (RunClosed, RunPaused, Halted, StepOutOfOrder, StepConflict),
    "report_steps": (RunClosed, RunPaused, Halted, StepOutOfOrder, StepConflict),
    "wait_for_decision": (Halted,),
    "save_checkpoint": (RunClosed,),
    "record_violation": (RunClosed,),
    "finish_run": (RunClosed, ReviewOpen),
    "abort_run": (RunClosed,),
    "reopen_run": (RunClosed, LimitReached),
    "write_agent_note": (RunClosed,),
    "read_agent_note": (RunClosed,),
    "ask_person": (RunClosed, RunPaused, Halted),
    "submit_plan": (RunClosed, RunPaused, Halted),
    "withdraw_review": (AlreadyRuled, ReviewExpired),
    "judge_tool_call": (RunClosed, RunPaused, Halted),
    "claim_tool_call": (
        *(RunClosed, RunPaused, Halted, ReviewOpen),
        *(GrantSpent, GrantMismatch, GrantExpired),
    ),
    "settle_tool_call": (RunClosed, ReviewOpen, GrantSpent, GrantExpired),
    "open_gate_check": (RunClosed, RunPaused),
    "give_verdict": (RunClosed, RunPaused, AlreadyRuled),
    "judge_turn": (RunClosed, RunPaused),
    "rule_review": (
        *(RunPaused, Halted, AlreadyRuled, ReviewExpired, FourEyes),
        *(StaleVersion, PreconditionRequired),
    ),
    "rule_reviews": (NotFound,),
    "claim_review": (AlreadyRuled, ReviewExpired),
    "release_review": (AlreadyRuled, ReviewExpired),
    "snooze_review": (AlreadyRuled, ReviewExpired),
    "assign_review": (AlreadyRuled, ReviewExpired),
    "hand_over_review": (AlreadyRuled, ReviewExpired),
    "comment_review": (AlreadyRuled, ReviewExpired),
    "make_exemption": (NotFound, Unchanged),
    "begin_halt": (NotFound, Unchanged),
    "release_halt": (Unchanged,),
    "store_policy_version": (Unchanged, ReviewOpen, StaleVersion),
    "raise_limit": (NotFound, Unchanged, ReviewOpen),
    "create_suggested_draft": (Unchanged, StaleVersion),
    "activate_policy_version": (Unchanged, ReviewOpen, StaleVersion),
    "start_policy_shadow": (Unchanged, ShadowRunning),
    "stop_policy_shadow": (Unchanged,),
    "change_person": (Unchanged,),
    "change_project": (NotFound, Unchanged),
    "adopt_recommendation": (RunPaused, Unchanged, StaleVersion, PreconditionRequired),
    **dict.fromkeys(
        (
            *("add_loop_note", "add_recommendation", "add_webhook", "get_loop"),
            *("get_loop_summary", "send_signal", "switch_loop", "wake_loop"),
            *("list_policies", "validate_policy", "get_rule_statistics"),
            *("list_rulings", "list_rulings_as_csv", "get_reviewer_statistics"),
            *("list_limits",),
            *("list_policy_assignments", "replace_policy_assignments"),
            *("list_people", "invite_person", "get_own_project"),
            *("list_agents", "create_agent"),
        ),
        (NotFound,),
    ),
}
# Hooks are answered with 200 whatever happens: a host takes all else for a yes.
_NEVER = frozenset({"answer_hook"})
_HEADERS: Mapping[int, Mapping[str, Any]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}}},
    429: {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}},
    503: {"Retry-After": {"$ref": "#/components/headers/RetryAfter"}},
}


def list_problems(operation: Mapping[str, Any], *, method: str) -> list[Problems]:
    """The problems of this operation, those of one status together."""
    if operation["operationId"] in _NEVER:
        return []
    found = sorted(dict.fromkeys(_list_each(operation, method)), key=_get_status)
    return [tuple(same) for _, same in groupby(found, key=_get_status)]


def _list_each(
    operation: Mapping[str, Any], method: str
) -> Iterator[type[DomainError]]:
    yield from (Malformed, BadEncoding, Unauthenticated)
    parameters = operation["parameters"]
    places = {each["in"] for each in parameters if "in" in each}
    if operation["security"]:
        yield from (Forbidden, RateLimited, Unavailable)
    if "path" in places:
        yield NotFound
    if "query" in places:
        yield Invalid
    if method != "get":
        # A body is read, and judged by its form, also where none is needed.
        yield from (DuplicateKey, RequestTimeout, TooLarge, UnsupportedMedia, Invalid)
    if {"$ref": "#/components/parameters/IdempotencyKey"} in parameters:
        yield KeyReused
    yield from OWN.get(operation["operationId"], ())


def _get_status(problem: type[DomainError]) -> int:
    return problem.status


def build_response_name(problems: Problems) -> str:
    return "Or".join(problem.__name__ for problem in problems)


def build_response(problems: Problems) -> dict[str, Any]:
    """What the document says of one status, for every operation that can answer it."""
    status = problems[0].status
    titles = {problem.slug: problem.title for problem in problems}
    shown = {slug: {"value": PROBLEMS[slug]} for slug in titles if slug in PROBLEMS}
    refused = {
        "schema": {"$ref": "#/components/schemas/Problem"},
        **({"examples": shown} if shown else {}),
    }
    return {
        "description": "\n".join(
            [
                f"{HTTPStatus(status).phrase}:",
                "",
                *(f"- `{slug}`: {title}" for slug, title in titles.items()),
            ]
        ),
        **({"headers": _HEADERS[status]} if status in _HEADERS else {}),
        "content": {MEDIA_TYPE: refused},
        "x-problems": titles,
    }
