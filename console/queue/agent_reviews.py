"""The page of one agent's open reviews, from which a manager closes all of them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, Min
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from accounts.auth import person_of
from accounts.models import Agent, Role
from common.errors import DomainError, Invalid
from common.ids import parse_code
from console.access import ConsoleRequest, member_door
from console.format import ago, iso
from console.queue.rows import cards_of
from console.runs.rows import live_position
from reviews.close_flood import CLOSE_LIMIT, Closing, close_agent_reviews
from reviews.models import Kind
from reviews.queue.floods import build_url, open_reviews_of_agents
from reviews.queue.order import load_reviews
from safetext import visible_line

REASON_LIMIT = 4_000
# Of those that would be closed; the others are counted.
ROWS_SHOWN = 10
# One and several, in words.
KINDS = {
    Kind.CONFIRMATION: ("call", "calls"),
    Kind.PAUSE: ("pause", "pauses"),
    Kind.QUESTION: ("question", "questions"),
    Kind.REQUEST: ("request", "requests"),
    Kind.EXHAUSTED: ("failed check", "failed checks"),
}


@require_http_methods(["GET", "POST"])
@member_door
def agent_reviews(request: ConsoleRequest, code: UUID) -> HttpResponse:
    agent = Agent.objects.filter(project=request.project, code=code).first()
    if agent is None:
        raise Http404
    if request.method != "POST":
        return _page(request, agent)
    try:
        done = close_agent_reviews(
            agent=agent,
            person=person_of(request.user),
            action=_action(request),
            reason=_reason(request),
            codes=_codes(request),
        )
    except DomainError as refusal:
        return _page(request, agent, alert=refusal.detail, status=refusal.status)
    if done.refusal is not None:
        reviews = "review" if done.count == 1 else "reviews"
        alert = f"{done.count} {reviews} closed, then it stopped: {done.refusal.detail}"
        return _page(request, agent, alert=alert, status=done.refusal.status)
    address = build_url(slug=request.project.slug, agent_code=agent.code)
    return redirect(f"{address}?{urlencode({'closed': done.count})}")


def _page(
    request: ConsoleRequest, agent: Agent, *, alert: str = "", status: int = 200
) -> HttpResponse:
    at = timezone.now()
    waiting = open_reviews_of_agents(request.project.pk).filter(run__agent=agent)
    counts = dict(
        waiting.values_list("kind").annotate(count=Count("pk")).order_by("-count")
    )
    oldest = waiting.aggregate(oldest=Min("opened_at"))["oldest"]
    since = live_position(project_id=request.project.pk)
    ordered = waiting.order_by("opened_at", "pk")
    codes = list(ordered.values_list("code", flat=True)[:CLOSE_LIMIT])
    first = load_reviews().filter(code__in=codes[:ROWS_SHOWN])
    closed = request.GET.get("closed", "")
    context = {
        "page": "queue",
        "since": since,
        "now": int(at.timestamp() * 1000),
        "slug": request.project.slug,
        "agent": visible_line(agent.name),
        "total": sum(counts.values()),
        # What is closed is what is listed here, whatever comes in meanwhile.
        "codes": " ".join(map(str, codes)),
        "count": len(codes),
        "cards": cards_of(
            list(first.order_by("opened_at", "pk")),
            slug=request.project.slug,
            at=at,
            seq=since,
        ),
        "more": len(codes) - min(len(codes), ROWS_SHOWN),
        "kinds": [f"{n:,} {KINDS[Kind(kind)][n != 1]}" for kind, n in counts.items()],
        "oldest": oldest
        and {"at": iso(oldest), "words": ago((at - oldest).total_seconds())},
        "manages": request.role.includes(Role.MANAGER),
        "closed": closed if closed.isascii() and closed.isdigit() else "",
        "alert": alert,
        "typed": request.POST.get("reason", ""),
    }
    return render(request, "console/queue/agent_reviews.html", context, status=status)


def _action(request: ConsoleRequest) -> Closing:
    match request.POST.get("action"):
        case "deny":
            return "deny"
        case "abort":
            return "abort"
        case _:
            raise Invalid("Choose whether to deny the calls or to abort the runs.")


def _codes(request: ConsoleRequest) -> list[UUID]:
    codes = [parse_code(text) for text in request.POST.get("codes", "").split()]
    known = [code for code in codes if code is not None]
    if not known or len(known) < len(codes) or len(known) > CLOSE_LIMIT:
        raise Invalid("Look at the reviews below, then choose again.")
    return known


def _reason(request: ConsoleRequest) -> str:
    reason = request.POST.get("reason", "").replace("\r\n", "\n").strip()
    if not reason:
        raise Invalid("Say why: it is told to the agent and kept in the ledger.")
    if len(reason) > REASON_LIMIT or "\x00" in reason:
        raise Invalid(f"The reason is too long: at most {REASON_LIMIT:,} characters.")
    return reason
