"""Before a person is asked about a call, a model may look at it, where the policy says so.

Whatever goes wrong here asks a person.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from functools import partial

from django.db.models import Count, Sum

from accounts.auth import AgentPrincipal
from gateway.llm.client import OFF
from gateway.llm.endpoint import get_endpoint
from gateway.llm.first_look import Opinion, ShownCall, look_at_call
from gateway.llm.recording import LOOKS_FIRST, get_model_name, record_opinion
from gateway.use_cases.call_requests import CheckedCall
from guidance.core.look_first import Look
from guidance.core.plans.matching import list_asking
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.first_look import FirstLook
from guidance.core.tools.judge_call import CallVerdict
from ledger.models import Run
from ledger.writer.db_threads import run_in_db_thread
from reviews.models import Kind, ModelRequest, Ruling
from reviews.permissions.standing import list_asking_rules

_PARTS = 1_000_000
DENIED_FOR = timedelta(days=1)
DENIED_LIMIT = 100
# A task that nobody holds on to may be dropped before it is done.
_under_way: set[asyncio.Task[Opinion]] = set()

logger = logging.getLogger(__name__)


async def look_first(
    agent: AgentPrincipal,
    run_code: str,
    call_code: str,
    *,
    checked: CheckedCall,
    plan: Sequence[str],
) -> Look:
    """What the model says of the call, and whether people are to check it blindly."""
    try:
        return await _look(agent, run_code, call_code, checked=checked, plan=plan)
    except Exception as error:
        logger.exception("A model could not look at a call")
        return Look(answer=None, trouble=f"looking failed: {type(error).__name__}")


async def _look(
    agent: AgentPrincipal,
    run_code: str,
    call_code: str,
    *,
    checked: CheckedCall,
    plan: Sequence[str],
) -> Look:
    rules = checked.policy.policy.tools.first_look
    find = partial(_find_refusal, agent, checked)
    refused = OFF if get_endpoint() is None else await run_in_db_thread(find)
    if refused is not None:
        return Look(answer=None, trouble=refused)
    # Drawn before it is asked: what it says must not decide whether it is checked.
    blind = secrets.randbelow(_PARTS) < rules.blind_share * _PARTS
    task = await run_in_db_thread(partial(_get_task, run_code))
    call = _build_shown_call(checked.verdict, task=task, plan=plan)
    asking = asyncio.create_task(_ask(agent, run_code, call_code, call, rules))
    _under_way.add(asking)
    asking.add_done_callback(_under_way.discard)
    # An agent that hangs up does not make the question free.
    opinion = await asyncio.shield(asking)
    return Look(
        answer=opinion.answer,
        reason=opinion.reason,
        model=opinion.model or get_model_name(),
        blind=blind and opinion.trouble is None,
        trouble=opinion.trouble,
    )


async def _ask(
    agent: AgentPrincipal,
    run_code: str,
    call_code: str,
    call: ShownCall,
    rules: FirstLook,
) -> Opinion:
    opinion = await look_at_call(call, timeout_s=rules.timeout_s)
    await record_opinion(agent, run_code, call_code, opinion)
    return opinion


def _find_refusal(agent: AgentPrincipal, checked: CheckedCall) -> str | None:
    """Why it is not asked after all; None where it is."""
    rules = checked.policy.policy.tools.first_look
    limit = _find_limit(rules, project_id=agent.project_id)
    if limit is not None:
        return limit
    asking = list_asking_rules(checked.verdict.findings)
    if asking & _list_denied_rules(agent.agent_id):
        return "people have refused this agent such a call within a day"
    return None


def _list_denied_rules(agent_id: int) -> set[str]:
    """Of calls that people would not let run as they stood: what they refused is not for
    a model to allow, in whatever run it is tried again."""
    denied = Ruling.objects.filter(
        review__run__agent_id=agent_id,
        review__kind=Kind.CONFIRMATION,
        at__gte=datetime.now(UTC) - DENIED_FOR,
    ).exclude(action="approve")
    contents = denied.order_by("-at").values_list("review__content", flat=True)
    return {
        rule
        for content in contents[:DENIED_LIMIT]
        for rule in list_asking_rules(
            CallFinding.from_json(each) for each in json.loads(content)["findings"]
        )
    }


def _find_limit(rules: FirstLook, *, project_id: int) -> str | None:
    """Why no more is asked today; None while it is."""
    most_cost = rules.max_cost_micros_per_day
    endpoint = get_endpoint()
    if most_cost is not None and endpoint is not None and endpoint.prices is None:
        return "what it costs is not known, and the policy limits that"
    midnight = datetime.combine(datetime.now(UTC).date(), time(), tzinfo=UTC)
    today = ModelRequest.objects.filter(
        project_id=project_id, at__gte=midnight, purpose=LOOKS_FIRST
    )
    sums = today.aggregate(asked=Count("pk"), cost=Sum("cost_micros"))
    most = rules.max_asked_per_day
    if most is not None and sums["asked"] >= most:
        return f"it was asked {most:,} times today, which is the policy's limit"
    if most_cost is not None and (sums["cost"] or 0) >= most_cost:
        return "today's cost has reached the policy's limit"
    return None


def _get_task(run_code: str) -> str:
    task: str = Run.objects.values_list("task", flat=True).get(code=run_code)
    return task


def _build_shown_call(
    verdict: CallVerdict, *, task: str, plan: Sequence[str]
) -> ShownCall:
    return ShownCall(
        tool=verdict.tool,
        shown=verdict.shown,
        rules=[
            f"{finding.details['rule']}: {finding.details.get('why') or finding.message}"
            for finding in list_asking(verdict.findings)
        ],
        task=task,
        plan=plan,
    )
