"""What the API of agents and keys takes and answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    Field,
    StringConstraints,
)

from accounts.models import Agent, AgentKey, Scope
from common.fields import Cursor, Id, Moment, Usd
from common.paging import PageQuery, QueryText
from guidance.core.money import parse_usd
from guidance.core.runs.usage import Budget
from ledger.chain import format_timestamp
from reviews.administration.agents.selectors import get_key_state
from reviews.policies.limits.selectors import get_own_limits
from reviews.policies.limits.serializers import serialize_limits
from reviews.schemas.fields import BUDGET_MAX, Body, Cleaned, Money


def _check_name(name: str) -> str:
    if not name.isprintable() or name != name.strip():
        raise ValueError("must be printable, without spaces around it")
    return name


def _sort_scopes(scopes: list[Scope]) -> list[Scope]:
    return [each for each in Scope if each in scopes]


AgentName = Annotated[
    str, StringConstraints(min_length=1, max_length=120), AfterValidator(_check_name)
]
PersonName = Annotated[str, StringConstraints(min_length=1, max_length=150)]
PolicyName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Description = Annotated[str, StringConstraints(max_length=400), Cleaned]
KeyName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=60),
    AfterValidator(_check_name),
    Cleaned,
]
Scopes = Annotated[
    list[Annotated[Scope, Field(strict=False)]],
    Field(min_length=1, max_length=len(Scope)),
    AfterValidator(_sort_scopes),
]


class AgentFilters(PageQuery):
    """`project` is required if you are in several."""

    project: QueryText | None = None


def _refuse_nothing(amount: str) -> str:
    if parse_usd(amount) == 0:
        raise ValueError("must be more than nothing: disable the agent instead")
    return amount


DayLimit = Annotated[int, Field(ge=1, le=BUDGET_MAX)]


class AgentLimits(Body):
    """What all runs of an agent may use in a day, from midnight UTC, beside what policies
    say: the stricter holds. What is null or left out is not limited."""

    tokens: DayLimit | None = None
    tool_calls: DayLimit | None = None
    cost_usd: Annotated[Money, AfterValidator(_refuse_nothing)] | None = None

    def build_budget(self) -> Budget:
        cost = None if self.cost_usd is None else parse_usd(self.cost_usd)
        return Budget(
            tokens=self.tokens,
            tool_calls=self.tool_calls,
            time_ms=None,
            cost_micros=cost,
        )


class AgentIn(Body):
    """`owner` is the name of the person who answers for it; `policy` the one that its runs
    get, before all assignments; `project` is required if you are in several."""

    name: AgentName
    owner: PersonName | None = None
    description: Description = ""
    policy: PolicyName | None = None
    limits: AgentLimits | None = None
    project: Annotated[str, StringConstraints(max_length=64)] | None = None


class AgentChange(Body):
    """What is left out stays as it is. `limits` are set as a whole; null takes them away."""

    owner: PersonName | None = None
    description: Description = ""
    policy: PolicyName | None = None
    limits: AgentLimits | None = None
    disabled: bool = False


class KeyIn(Body):
    """Without `expires_at` it works until it is revoked."""

    name: KeyName
    scopes: Scopes = list(Scope)
    expires_at: Annotated[AwareDatetime, Field(strict=False)] | None = None


class KeyOut(BaseModel):
    """A key by its name and first characters: the rest is kept nowhere."""

    id: Id
    name: str
    prefix: str
    scopes: list[str]
    state: str
    created_by: str | None
    created_at: Moment
    last_used_at: Moment | None
    expires_at: Moment | None


class NewKeyOut(KeyOut):
    """`key` is shown only here."""

    agent: Id
    key: str


class AgentLimitsOut(BaseModel):
    """Its own, a day; null is no limit."""

    tokens: int | None
    tool_calls: int | None
    cost_usd: Usd | None


class AgentOut(BaseModel):
    """An agent and its keys that nobody has revoked; `limits` is null where it has none of
    its own."""

    id: Id
    project: str
    name: str
    owner: str | None
    description: str
    policy: str | None
    limits: AgentLimitsOut | None
    disabled: bool
    created_at: Moment
    keys: list[KeyOut]


class AgentPage(BaseModel):
    """A page of agents, newest first."""

    items: list[AgentOut]
    next_cursor: Cursor


def serialize_agent(agent: Agent, *, policy: str | None) -> dict[str, Any]:
    """Needs `kept_keys`, as `list_agents_with_keys` loads them."""
    return {
        "id": str(agent.code),
        "project": agent.project.slug,
        "name": agent.name,
        "owner": agent.owner.username if agent.owner else None,
        "description": agent.description,
        "policy": policy,
        "limits": serialize_limits(get_own_limits(agent)),
        "disabled": agent.disabled_at is not None,
        "created_at": format_timestamp(agent.created_at),
        "keys": [serialize_key(key) for key in agent.kept_keys],  # type: ignore[attr-defined]
    }


def serialize_key(key: AgentKey, /, **more: Any) -> dict[str, Any]:
    return {
        "id": str(key.code),
        "name": key.name,
        "prefix": key.lookup,
        "scopes": key.scopes.split(),
        "state": get_key_state(key),
        "created_by": key.created_by.username if key.created_by else None,
        "created_at": format_timestamp(key.created_at),
        "last_used_at": _format(key.last_used_at),
        "expires_at": _format(key.expires_at),
        **more,
    }


def _format(at: datetime | None) -> str | None:
    return format_timestamp(at) if at else None
