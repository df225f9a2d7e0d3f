"""The one shape of every error, as the document shows it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict

from common.fields import Id, Moment, Usd
from ledger.schemas import ReviewReference
from reviews.schemas.reviews import RulingOut


class ProblemItem(TypedDict):
    """One field that is wrong, and why."""

    loc: Annotated[list[str | int], Field(description="the way to the field")]
    message: str
    line: NotRequired[Annotated[int, Field(description="of a policy sent as YAML")]]
    column: NotRequired[Annotated[int, Field(description="of a policy sent as YAML")]]


class PolicyInForce(TypedDict):
    """The version of a policy that is in force: new runs are judged by it."""

    name: str
    version: int


class PolicyDifference(TypedDict):
    """One place of a policy; `before` is null where something is added, `after` where
    it is removed."""

    path: str
    change: Literal["added", "changed", "removed"]
    before: Any
    after: Any


class HaltReference(TypedDict):
    """The halt that holds the run."""

    id: Id
    reason: str
    by: str
    at: Moment


class ReachedLimit(TypedDict):
    """A limit that runs share; amounts of money are decimal strings."""

    scope: Annotated[
        Literal["run", "agent_day", "project_day", "project_month"],
        Field(
            description="whose it is: of a run above this one, the agent, the project"
        ),
    ]
    agent: Annotated[str | None, Field(description="whose day it is, by name")]
    run: Annotated[Id | None, Field(description="the run above whose budget it is")]
    part: Literal["tokens", "tool_calls", "cost_usd"]
    limit: int | Usd
    used: int | Usd
    begins_anew: Annotated[
        Moment | None, Field(description="null for a run's budget, which never does")
    ]


class Problem(TypedDict):
    """Why a request was refused. `type` is stable; `title` and `detail` are for people.

    What stands below `errors` is only there where it helps.
    """

    type: Annotated[
        str,
        Field(
            pattern="^/problems/[a-z-]+$",
            description="the kind of problem, and the address of a page about it",
            examples=["/problems/run-paused"],
        ),
    ]
    title: Annotated[str, Field(description="the kind of problem, in words")]
    status: Annotated[int, Field(ge=400, le=599, description="the HTTP status")]
    detail: Annotated[str, Field(description="what is wrong with this very request")]
    errors: NotRequired[
        Annotated[list[ProblemItem], Field(description="every field that is wrong")]
    ]
    halt: NotRequired[
        Annotated[
            HaltReference,
            Field(description="halted: what the person said who halted it"),
        ]
    ]
    limit: NotRequired[
        Annotated[
            ReachedLimit,
            Field(description="limit-reached: the one that begins anew last"),
        ]
    ]
    standing: NotRequired[
        Annotated[str, Field(description="unchanged: the halt that stands, by its id")]
    ]
    expected: NotRequired[
        Annotated[
            int, Field(description="step-out-of-order: the number of the next step")
        ]
    ]
    review: NotRequired[
        Annotated[
            ReviewReference | None,
            Field(description="run-paused, review-open: the review that is waited for"),
        ]
    ]
    run_status: NotRequired[
        Annotated[str, Field(description="run-closed: how the run ended")]
    ]
    state: NotRequired[
        Annotated[str, Field(description="already-ruled: how the review ended")]
    ]
    ruling: NotRequired[
        Annotated[
            RulingOut | None,
            Field(description="already-ruled: the ruling that counts, if there is one"),
        ]
    ]
    version: NotRequired[
        Annotated[
            int,
            Field(
                description="stale-version: the version there is now; unchanged: the "
                "version of the policy that says the same"
            ),
        ]
    ]
    content_digest: NotRequired[
        Annotated[
            str, Field(description="stale-version: the digest of what is shown now")
        ]
    ]
    in_force: NotRequired[
        Annotated[
            PolicyInForce,
            Field(description="stale-version of a policy: what is in force now"),
        ]
    ]
    changes: NotRequired[
        Annotated[
            list[PolicyDifference],
            Field(description="stale-version of a policy: what would change in it now"),
        ]
    ]
    call: NotRequired[
        Annotated[
            str, Field(description="grant-mismatch: the call that was meant, by its id")
        ]
    ]
    shadow: NotRequired[
        Annotated[
            str, Field(description="shadow-running: the one that runs, by its id")
        ]
    ]
    accepted_forms: NotRequired[
        Annotated[list[str], Field(description="invalid: how a verdict can be written")]
    ]


def build_problem_schema(ref_template: str) -> dict[str, Any]:
    return TypeAdapter(Problem).json_schema(
        ref_template=ref_template, mode="serialization"
    )
