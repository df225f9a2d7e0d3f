"""Is the process up, can it serve, and how is everything that it is made of?"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import Router
from pydantic import BaseModel, Field

from common.responses import build_json_response
from config.health.parts import State, check_database, check_process
from config.health.versions import FORMATS, PROFILE, VERSION, get_schema
from config.health.watch import get_overall_state, watch
from ledger.chain import format_timestamp

router = Router(tags=["Health"])


class HealthOut(BaseModel):
    """The process is up."""

    status: Literal["ok"]


class ReadyOut(BaseModel):
    """The parts that this process needs to serve, each `ok` or what is wrong with it."""

    status: Literal["ok", "unavailable"]
    checks: dict[str, str]


class PartOut(BaseModel):
    """The state of one part, its reason, and since when."""

    status: State
    reason: str
    since: datetime


class StatusOut(BaseModel):
    """The state of everything: `down` where agents cannot work, `degraded` where something
    else does not."""

    status: State
    parts: dict[str, PartOut]
    version: str
    schema_: dict[str, str] = Field(alias="schema")
    formats: dict[str, int]
    profile: Literal["sqlite", "postgresql"]


@router.get("/healthz", operation_id="get_health", response=HealthOut)
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return build_json_response({"status": "ok"})


@router.get(
    "/readyz",
    operation_id="get_readiness",
    response={200: ReadyOut, 503: ReadyOut},
)
async def readyz(request: HttpRequest) -> HttpResponse:
    """For load balancers: this process can serve. 503 while the database does not answer or
    takes no writes, and from the moment the process is asked to stop; workers, beat and
    Redis are not asked."""
    process = check_process()
    database, _ = await check_database()
    parts = {"process": process, "database": database}
    ready = all(part.state == State.OK for part in parts.values())
    body = {
        "status": "ok" if ready else "unavailable",
        "checks": {name: part.reason or "ok" for name, part in parts.items()},
    }
    if ready:
        return build_json_response(body)
    return build_json_response(body, status=503, headers={"Retry-After": "5"})


@router.get(
    "/status",
    operation_id="get_status",
    response=StatusOut,
    by_alias=True,
)
async def status(request: HttpRequest) -> HttpResponse:
    """For people and monitoring: every part, and what runs here. 200 whatever is wrong."""
    return build_json_response(await _build_status())


async def status_page(request: HttpRequest) -> HttpResponse:
    """The same as a page, for who asks for one."""
    document = await _build_status()
    wanted = request.get_preferred_type(["application/json", "text/html"])
    if wanted != "text/html":
        return build_json_response(document)
    return render(request, "config/status.html", document)


async def _build_status() -> dict[str, Any]:
    known = await watch.look()
    return {
        "status": get_overall_state(known),
        "parts": {
            name: {
                "status": part.state,
                "reason": part.reason,
                "since": format_timestamp(since),
            }
            for name, (part, since) in known.items()
        },
        "version": VERSION,
        "schema": get_schema(),
        "formats": FORMATS,
        "profile": PROFILE,
    }
