"""The bodies of the loop's doors: strict, bounded, nothing unknown."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from common.paging import PageQuery, QueryText
from guidance.core.canonical import canonical
from reviews.schemas import (
    Body,
    Cleaned,
    Kept,
    Money,
    Reason,
    Said,
    kept_apart,
    kept_within,
)

DATA_LIMIT = 16 * 1024
VERSION_MAX = 2**31 - 1


def _bounded(value: dict[str, Any]) -> dict[str, Any]:
    if len(canonical(value).encode()) > DATA_LIMIT:
        raise ValueError(f"at most {DATA_LIMIT // 1024} KiB of JSON")
    return value


# Which project: needed by people who are in several; an agent has one.
Slug = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Data = Annotated[dict[str, Any], Cleaned, AfterValidator(_bounded)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=255), kept_apart(255)]
Title = Annotated[
    str, StringConstraints(min_length=1, max_length=200), kept_within(200)
]
NoteText = Annotated[str, StringConstraints(min_length=1, max_length=20_000), Kept]


class SignalIn(Body):
    """The same `dedupe_key` again is the same signal. `data.decision_id` names the
    decision whose event led to this."""

    type: Literal[
        "agent/loop.complete",
        "agent/loop.retro.complete",
        "agent/loop.failed",
        "system/note",
    ]
    data: Data = {}
    dedupe_key: Key | None = None
    project: Slug | None = None


class WakeIn(Body):
    """Which loop is to look now."""

    project: Slug | None = None


class NoteIn(Body):
    """Something that the loop should know of."""

    text: NoteText
    data: Data = {}
    project: Slug | None = None


class NoteEndIn(Body):
    """What became of a note."""

    reason: Said = ""


class PolicyChangeIn(Body):
    """Keys of a policy document to set, merged into the version in force."""

    policy: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "default"
    set: Annotated[Data, Field(min_length=1)]


class LoopChangeIn(Body):
    """A loop that the policy knows, to be started once a person adopts it."""

    kind: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    parameters: Data = {}


class AdviceIn(Body):
    """Something that only a person can do; adopting it says that it is done."""

    advice: Annotated[str, StringConstraints(min_length=1, max_length=2_000), Kept]


class RecommendationIn(Body):
    """A change that a manager may adopt: of a policy, a loop to start, or advice."""

    title: Title
    detail: Said = ""
    change: PolicyChangeIn | LoopChangeIn | AdviceIn
    project: Slug | None = None


class AdoptIn(Body):
    """`based_on` is the version of the policy that the difference was seen to; needed
    where a policy would change."""

    based_on: Annotated[int, Field(ge=1, le=VERSION_MAX)] | None = None


class SwitchIn(Body):
    """Whether the loop is paused, and why."""

    paused: bool
    reason: Reason = ""
    project: Slug | None = None


class OutcomeIn(Body):
    """What came of an event, told by whoever acted on it."""

    outcome: Literal["succeeded", "failed"]
    summary: Said = ""
    run: Annotated[str, StringConstraints(max_length=36)] | None = None
    cost_usd: Money = "0"


class ResolveIn(Body):
    """Why an incident is over."""

    note: Said = ""


class ProjectQuery(BaseModel):
    project: QueryText | None = None


class SummaryQuery(ProjectQuery):
    """Left out, it is the week that is running."""

    week: QueryText | None = None


class LoopQuery(PageQuery):
    project: QueryText | None = None


class DecisionFilters(LoopQuery):
    outcome: (
        Literal[
            "emitted",
            "noop",
            "rate_limited",
            "budget_denied",
            "approval_required",
            "approved_and_emitted",
            "approval_denied",
            "deduplicated",
            "invalid_decision",
        ]
        | None
    ) = None
    action: (
        Literal[
            "start_loop",
            "process_notes",
            "apply_retro_recommendation",
            "emit_alert",
            "do_nothing",
        ]
        | None
    ) = None
    trigger_source: Literal["clock", "signal", "manual", "own"] | None = None


class NoteFilters(LoopQuery):
    state: Literal["queued", "claimed", "done", "failed"] | None = None


class RecommendationFilters(LoopQuery):
    state: Literal["pending", "drafted", "adopted", "dismissed"] | None = None


class IncidentFilters(LoopQuery):
    state: Literal["open", "resolved"] | None = None
