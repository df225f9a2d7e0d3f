"""What a hook sends: the host's own words, and our options beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from common.errors import Invalid
from common.paging import build_parameter_error, refuse_unknown_parameters
from reviews.schemas.calls import PolicyName
from reviews.schemas.fields import (
    Amount,
    Body,
    Money,
    redact_and_cut,
    redact_and_hash,
)

# Claude Code gives a hook 600 seconds; the answer must be there before that.
WAIT_DEFAULT = 570
WAIT_MAX = 3_600
QUERY = frozenset({"wait_s", "headless", "on_allow", "policy"})

Host = Literal["claude-code", "codex"]
Seconds = Annotated[int, Field(ge=1, le=WAIT_MAX)]
Identifier = Annotated[
    str, StringConstraints(min_length=1, max_length=200), redact_and_hash(200)
]


class UsageIn(Body):
    """Tokens of one model by kind, each counted once."""

    model: Annotated[str, StringConstraints(max_length=200), redact_and_cut(200)] = ""
    input_tokens: Amount = 0
    cached_input_tokens: Amount = 0
    cache_write_tokens: Amount = 0
    output_tokens: Amount = 0


class OptionsIn(Body):
    """What our own command hook adds: what was used, and how the host is run.

    Where `cost_usd` is not told, `usage` costs what the policy's prices say.
    """

    tokens: Amount = 0
    cost_usd: Money = "0"
    usage: Annotated[list[UsageIn], Field(max_length=20)] = []
    headless: bool | None = None
    wait_s: Seconds | None = None
    on_allow: Literal["none", "allow"] | None = None


class HookIn(BaseModel):
    """An event of a coding agent; fields that are not known are left alone."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    session_id: Identifier
    hook_event_name: str | None = None
    cwd: str | None = None
    model: str | None = None
    turn_id: str | None = None
    source: str | None = None
    prompt: str | None = None
    tool_name: str | None = None
    tool_input: dict[str, Any] | None = None
    tool_use_id: Identifier | None = None
    tool_response: Any = None
    error: Any = None
    duration_ms: Annotated[float, Field(ge=0, le=10**12)] | None = None
    last_assistant_message: str | None = None
    background_tasks: list[Any] | None = None
    reason: str | None = None
    checkrail: OptionsIn = Field(default_factory=OptionsIn)

    def needs(self, *names: str) -> None:
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            raise Invalid(
                f"{missing[0]} is missing: is this hook set for another event?",
                errors=[{"loc": [name], "message": "missing"} for name in missing],
            )


class Options(Body):
    """How this hook is to be answered: by the body first, then by the query."""

    wait_s: Seconds = WAIT_DEFAULT
    headless: bool = False
    on_allow: Literal["none", "allow"] = "none"
    policy: PolicyName = "default"


def parse_options(query: Mapping[str, str], body: OptionsIn) -> Options:
    refuse_unknown_parameters(query, QUERY)
    given = body.model_dump(
        include={"wait_s", "headless", "on_allow"}, exclude_none=True
    )
    return Options.model_validate({**_read(query), **given})


def parse_query_wait(query: Mapping[str, str]) -> int:
    """How long this hook may be held by what its address says."""
    text = query.get("wait_s", "")
    if not text:
        return WAIT_DEFAULT
    short = text.isascii() and text.isdigit() and len(text) <= len(str(WAIT_MAX))
    if not short or not 1 <= int(text) <= WAIT_MAX:
        raise build_parameter_error("wait_s", f"1 to {WAIT_MAX} whole seconds")
    return int(text)


def _read(query: Mapping[str, str]) -> dict[str, Any]:
    read: dict[str, Any] = {"wait_s": parse_query_wait(query)}
    if "headless" in query:
        if query["headless"] not in {"true", "false"}:
            raise build_parameter_error("headless", "true or false")
        read["headless"] = query["headless"] == "true"
    if "on_allow" in query:
        if query["on_allow"] not in {"none", "allow"}:
            raise build_parameter_error("on_allow", "none or allow")
        read["on_allow"] = query["on_allow"]
    if "policy" in query:
        if not 1 <= len(query["policy"]) <= 64:
            raise build_parameter_error("policy", "the name of a policy")
        read["policy"] = query["policy"]
    return read
