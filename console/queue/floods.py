"""Agents that fill the queue, each as one notice above it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from reviews.queue.floods import Flood, list_floods


@dataclass(frozen=True, slots=True, kw_only=True)
class FloodNotice:
    """The same for everybody: what a manager does about it is on a page of its own."""

    agent: str
    tone: str
    text: str
    link: str
    url: str


def list_flood_notices(*, project_id: int, slug: str, total: int) -> list[FloodNotice]:
    """`total` is how many reviews are open."""
    floods = list_floods(project_id=project_id, total=total)
    return [_build_notice(flood, slug=slug) for flood in floods]


def _build_notice(flood: Flood, *, slug: str) -> FloodNotice:
    whose = "Its limit" if flood.own else "The project’s limit"
    then = ""
    if flood.full:
        then = ": until some are closed, calls that need a person are blocked"
    return FloodNotice(
        agent=flood.agent,
        tone="stop" if flood.full else "pause",
        text=(f"has {flood.count} open reviews. {whose} is {flood.limit}{then}."),
        link=f"Close all {flood.count}…",
        url=build_url(slug=slug, agent_code=flood.agent_code),
    )


def build_url(*, slug: str, agent_code: UUID) -> str:
    """The page on which a manager closes all open reviews of an agent."""
    return reverse("console:agent-reviews", args=[slug, agent_code])
