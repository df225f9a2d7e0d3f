"""A queue that fills, as notices above it: the project first, then its agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from reviews.queue.floods import AgentShare, Crowd, Flood, read_filling
from reviews.queue.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class FloodNotice:
    """The same for everybody: what a manager does about it is on a page of its own."""

    agent: str
    tone: str
    text: str
    link: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdNotice:
    """`shares` are the agents that fill the queue, each with the page that closes theirs."""

    tone: str
    title: str
    text: str
    shares: tuple[FloodNotice, ...]
    more: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FillingNotices:
    """One is open to view, the others behind a line that counts them: the queue itself
    needs the room."""

    crowd: CrowdNotice | None = None
    first: FloodNotice | None = None
    others: Sequence[FloodNotice] = ()

    @property
    def others_title(self) -> str:
        several = len(self.others) > 1
        other = "" if self.crowd else "other "
        agents = f"{other}agents are" if several else f"{other}agent is"
        return f"{len(self.others)} {agents} near a limit too"


def build_filling_notices(
    *, project_id: int, slug: str, tally: Tally
) -> FillingNotices:
    found = read_filling(project_id=project_id, total=tally.open)
    floods = [_build_flood(flood, slug=slug) for flood in found.floods]
    if found.crowd is not None:
        return FillingNotices(crowd=_build_crowd(found.crowd, slug=slug), others=floods)
    return FillingNotices(first=floods[0] if floods else None, others=floods[1:])


def describe_crowd(crowd: Crowd) -> str:
    """Say how full it is, and what follows from that."""
    room = f"{crowd.count:,} of {crowd.limit:,} open reviews"
    if crowd.full:
        return f"{room}. New questions are refused, critical ones too, and what would pause stops."
    if crowd.refuses:
        kept = crowd.limit - crowd.count
        return f"{room}. Only critical ones are still taken, {kept:,} more; all others are refused."
    return f"{room}. When it is full, new questions are refused."


def describe_title(crowd: Crowd) -> str:
    return "Queue full" if crowd.refuses else f"Queue {crowd.percent} % full"


def describe_shares(crowd: Crowd) -> str:
    """Such as "data-backfill 99, release-pilot 98 and 16 more agents"."""
    named = ", ".join(f"{each.agent} {each.count:,}" for each in crowd.shares)
    more = crowd.agents - len(crowd.shares)
    return f"{named} and {more} more agents" if more else named


def build_url(*, slug: str, agent_code: UUID) -> str:
    """The page on which a manager closes all open reviews of an agent."""
    return reverse("console:agent-reviews", args=[slug, agent_code])


def _build_crowd(crowd: Crowd, *, slug: str) -> CrowdNotice:
    more = crowd.agents - len(crowd.shares)
    return CrowdNotice(
        tone="stop" if crowd.refuses else "pause",
        title=describe_title(crowd),
        text=describe_crowd(crowd),
        shares=tuple(_build_share(each, slug=slug) for each in crowd.shares),
        more=f"and {more:,} more agents" if more else "",
    )


def _build_share(share: AgentShare, *, slug: str) -> FloodNotice:
    return FloodNotice(
        agent=share.agent,
        tone="",
        text=f"{share.count:,}",
        link=f"Close all {share.count:,} of {share.agent}…",
        url=build_url(slug=slug, agent_code=share.agent_code),
    )


def _build_flood(flood: Flood, *, slug: str) -> FloodNotice:
    then = ""
    if flood.full:
        then = ": until some are closed, calls that need a person are blocked"
    return FloodNotice(
        agent=flood.agent,
        tone="stop" if flood.full else "pause",
        text=f"has {flood.count:,} open reviews. Its limit is {flood.limit:,}{then}.",
        link=f"Close all {flood.count:,}…",
        url=build_url(slug=slug, agent_code=flood.agent_code),
    )
