"""The page of one agent's open reviews, from which a manager closes all of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Min
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from accounts.auth import build_person_principal
from accounts.models import Agent, Role
from common.errors import DomainError, Invalid
from console.access import ConsoleRequest
from console.format import (
    ShownMoment,
    build_past_moment_or_none,
    format_count,
    to_milliseconds,
)
from console.queue.floods import build_url
from console.queue.forms import CloseAllForm
from console.queue.kinds import get_kind
from console.queue.rows import ReviewRow, build_rows
from console.runs.rows import get_live_position
from reviews.close_flood import CLOSE_LIMIT, close_agent_reviews
from reviews.queue.floods import open_reviews_of_agents
from reviews.queue.order import load_reviews
from safetext import make_visible_line

# Of those that would be closed; the others are counted.
ROWS_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReviews:
    """What waits, as its page says it. `codes` are closed, whatever comes in meanwhile."""

    agent: str
    codes: str
    count: int
    total: int
    kinds: str
    oldest: ShownMoment | None
    rows: list[ReviewRow]

    @property
    def title(self) -> str:
        return f"Open reviews of {self.agent}"

    @property
    def is_empty(self) -> bool:
        return self.total == 0

    @property
    def waiting(self) -> str:
        return f"{self.total} {'waits' if self.total == 1 else 'wait'} for a person"

    @property
    def more(self) -> str:
        """What is not listed; empty where all of it is."""
        more = self.count - len(self.rows)
        if not more:
            return ""
        if self.total > self.count:
            return f"and {more} more; the {self.count} oldest are closed first"
        return f"and {more} more"

    @property
    def abort_text(self) -> str:
        which = "this review" if self.count == 1 else f"these {self.count} reviews"
        return (
            f"{self.agent} is told to stop and the runs of {which} end for good. "
            "What they did stays in the ledger."
        )


@require_http_methods(["GET", "POST"])
def agent_reviews(request: ConsoleRequest, code: UUID) -> HttpResponse:
    agent = Agent.objects.filter(project=request.project, code=code).first()
    if agent is None:
        raise Http404
    if request.method != "POST":
        return _render_page(request, agent, form=CloseAllForm())
    form = CloseAllForm(request.POST)
    if not form.is_valid():
        return _render_page(request, agent, form=form, status=Invalid.status)
    said = form.cleaned_data
    try:
        done = close_agent_reviews(
            agent=agent,
            person=build_person_principal(request.user),
            action=said["action"],
            reason=said["reason"],
            codes=said["codes"],
        )
    except DomainError as refusal:
        return _render_page(
            request, agent, form=form, alert=refusal.detail, status=refusal.status
        )
    if done.refusal is not None:
        closed = format_count(done.count, "review")
        alert = f"{closed} closed, then it stopped: {done.refusal.detail}"
        return _render_page(
            request, agent, form=form, alert=alert, status=done.refusal.status
        )
    address = build_url(slug=request.project.slug, agent_code=agent.code)
    return redirect(f"{address}?{urlencode({'closed': done.count})}")


def _render_page(
    request: ConsoleRequest,
    agent: Agent,
    *,
    form: CloseAllForm,
    alert: str = "",
    status: int = 200,
) -> HttpResponse:
    """What was chosen is told above the form; the reason has its own place."""
    chosen = [*form.errors.get("codes", ()), *form.errors.get("action", ())]
    at = timezone.now()
    since = get_live_position(project_id=request.project.pk)
    closed = request.GET.get("closed", "")
    context = {
        "page": "queue",
        "since": since,
        "now": to_milliseconds(at),
        "slug": request.project.slug,
        "about": _build_reviews(request, agent, at=at, seq=since),
        "manages": request.role.includes(Role.MANAGER),
        "closed": _describe_closed(closed),
        "alert": alert or " ".join(map(str, chosen)),
        "form": form,
    }
    return render(request, "console/queue/agent_reviews.html", context, status=status)


def _build_reviews(
    request: ConsoleRequest, agent: Agent, *, at: datetime, seq: int
) -> AgentReviews:
    waiting = open_reviews_of_agents(request.project.pk).filter(run__agent=agent)
    counts = dict(
        waiting.values_list("kind").annotate(count=Count("pk")).order_by("-count")
    )
    oldest = waiting.aggregate(oldest=Min("opened_at"))["oldest"]
    ordered = waiting.order_by("opened_at", "pk")
    codes = list(ordered.values_list("code", flat=True)[:CLOSE_LIMIT])
    first = load_reviews().filter(code__in=codes[:ROWS_SHOWN])
    return AgentReviews(
        agent=make_visible_line(agent.name),
        codes=" ".join(map(str, codes)),
        count=len(codes),
        total=sum(counts.values()),
        kinds=", ".join(
            format_count(count, *get_kind(name).nouns) for name, count in counts.items()
        ),
        oldest=build_past_moment_or_none(oldest, at),
        rows=build_rows(
            list(first.order_by("opened_at", "pk")),
            slug=request.project.slug,
            at=at,
            seq=seq,
        ),
    )


def _describe_closed(count: str) -> str:
    """What the act that led here has done, by the address; empty where there was none."""
    if not (count.isascii() and count.isdigit()):
        return ""
    return f"{count} {'review' if count == '1' else 'reviews'} closed."
