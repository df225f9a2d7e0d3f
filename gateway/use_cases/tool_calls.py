"""The agent asks before it acts: every call is judged before it runs.

The gates that need no run look at the call outside of the writer; the writer adds the
budget and decides, so that a limit of N lets exactly N calls through.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

from accounts.auth import AgentPrincipal
from common.ids import uuid7
from common.long_work import run_long
from common.responses import Reply
from gateway.shadow import ShadowedCall, report_trouble
from gateway.use_cases.access import get_cached_policy, get_policy_of_run
from gateway.use_cases.asking.first_look import look_first
from gateway.use_cases.call_requests import (
    CheckedCall,
    JudgeCall,
    JudgePermittedCall,
    RepeatCall,
    find_call_severity,
)
from guidance.core.arguments import build_call_key, is_allowlisted
from guidance.core.outcomes.call_facts import build_call_facts
from guidance.core.policy.caps import CapReached
from guidance.core.shell_commands import is_plain
from guidance.core.tools.calls import (
    Call,
    CommandCall,
    ToolCall,
    compute_call_digest,
)
from guidance.core.tools.exemptions import (
    apply_exemptions,
    copy_exemptions,
    list_blocking_fingerprints,
)
from guidance.core.tools.judge_call import CallVerdict, judge_call
from guidance.core.tools.permission_shapes import is_permittable
from guidance.own_server import get_own_server
from guidance.redactor import get_fingerprint_key
from guidance.selectors import LoadedPolicy
from ledger.backtest.judges import Unknown
from ledger.idempotency import Idempotency
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.caps import find_review_room
from reviews.errors import LookNeeded, PermissionGone, PolicyMoved
from reviews.models import ToolCall as ToolCallRow
from reviews.permissions.exemptions import find_exemptions
from reviews.permissions.standing import find_permission
from reviews.policies.shadow.running import find_shadow

# Judging a longer call takes longer than others should have to wait for the event loop.
_LONG = 4_000
NOT_EXEMPTED = "whether its secret is exempted was not looked up"


async def submit_call(
    *,
    agent: AgentPrincipal,
    run_code: str,
    call: Call,
    idempotency: Idempotency | None = None,
    carries_notes: bool = True,
) -> Reply:
    """`carries_notes` is False where the answer has no place for what people wrote."""
    policy = get_cached_policy(agent, run_code)
    while True:
        if policy is None:
            policy = await run_in_db_thread(partial(get_policy_of_run, agent, run_code))
        try:
            return await _submit_under(
                policy,
                agent,
                run_code,
                call,
                idempotency=idempotency,
                carries_notes=carries_notes,
            )
        except PolicyMoved:
            policy = None


def build_plain_call_request(
    *,
    agent: AgentPrincipal,
    run_code: str,
    call: Call,
    idempotency: Idempotency | None = None,
) -> JudgeCall | None:
    """The same for a plain command that the gates simply let through, as most are: nothing
    has to be waited for before the writer decides (bench calls). None for all others."""
    if not isinstance(call, CommandCall) or call.arguments is not None or call.confirm:
        return None
    policy = get_cached_policy(agent, run_code)
    if policy is None or not is_plain(call.command):
        return None
    at = datetime.now(UTC)
    if find_shadow(project_id=agent.project_id, policy=policy, at=at) is not None:
        return None
    if is_allowlisted(call.tool, policy.policy.tools.idempotent):
        return None
    verdict = _judge(call, policy)
    if verdict.findings:
        return None
    return JudgeCall(
        agent=agent,
        run_code=run_code,
        checked=build_checked_call(verdict, policy=policy, run_code=run_code),
        idempotency=idempotency,
    )


async def _submit_under(
    policy: LoadedPolicy,
    agent: AgentPrincipal,
    run_code: str,
    call: Call,
    **more: Any,
) -> Reply:
    verdict = await judge_in_project(call, policy, project_id=agent.project_id)
    reached = None
    if verdict.decision == "require-confirmation":
        # Looked at here first: a flood that is refused anyway takes nobody's lock.
        find_room = partial(
            find_review_room,
            project_id=agent.project_id,
            agent_id=agent.agent_id,
        )
        room = await run_in_db_thread(find_room)
        reached = room.find_reached(find_call_severity(verdict, policy))
    shadow = await judge_in_shadow(
        call, verdict, policy=policy, project_id=agent.project_id
    )
    build = partial(
        build_checked_call,
        verdict,
        policy=policy,
        run_code=run_code,
        reached=reached,
        shadow=shadow,
    )
    checked = build() if _is_short(call) else await run_long(build)
    asked: dict[str, Any] = {
        "agent": agent,
        "run_code": run_code,
        "checked": checked,
        **more,
    }
    stored = await _find_stored_result(agent, run_code, checked)
    if stored is not None:
        return await get_writer().perform(RepeatCall(stored=stored, **asked))
    permission = await _find_permission(agent, checked)
    if permission is not None:
        permitted = JudgePermittedCall(permission_id=permission, **asked)
        try:
            return await get_writer().perform(permitted)
        except PermissionGone:
            pass  # it ended in between: a person is asked, as without it
    try:
        return await get_writer().perform(JudgeCall(**asked))
    except LookNeeded as needed:
        call_code = str(uuid7())
        look = await look_first(
            agent, run_code, call_code, checked=checked, plan=needed.plan
        )
        return await get_writer().perform(
            JudgeCall(call_code=call_code, look=look, **asked)
        )


def build_checked_call(
    verdict: CallVerdict,
    *,
    policy: LoadedPolicy,
    run_code: str,
    reached: CapReached | None = None,
    shadow: ShadowedCall | None = None,
) -> CheckedCall:
    """The call with all that the writer has to know of it."""
    key = get_fingerprint_key() if verdict.redacted else None
    return CheckedCall(
        policy=policy,
        verdict=verdict,
        digest=compute_call_digest(verdict.call, run=run_code, key=key),
        key=_build_key(verdict, run=run_code, policy=policy),
        reached=reached,
        shadow=shadow,
        facts=build_call_facts(
            kind=verdict.call.kind,
            shown=verdict.shown,
            preview=verdict.preview,
            listed=policy.policy.evaluators.forbidden_commands.commands,
        ),
    )


async def _find_permission(agent: AgentPrincipal, checked: CheckedCall) -> int | None:
    """A standing permission that may let the call through."""
    always_ask = checked.policy.policy.tools.always_ask
    if not is_permittable(checked.verdict.findings, always_ask=always_ask):
        return None
    return await run_in_db_thread(
        partial(find_permission, project_id=agent.project_id, verdict=checked.verdict)
    )


async def _find_stored_result(
    agent: AgentPrincipal, run_code: str, checked: CheckedCall
) -> ToolCallRow | None:
    """The result of the same call of an idempotent tool, if it was kept."""
    verdict = checked.verdict
    if verdict.decision not in {"allow", "warn"} or not checked.key:
        return None
    if not is_allowlisted(verdict.call.tool, checked.policy.policy.tools.idempotent):
        return None
    return await run_in_db_thread(
        partial(_get_newest_result, agent, run_code, checked.key)
    )


async def judge_in_project(
    call: Call, policy: LoadedPolicy, *, project_id: int
) -> CallVerdict:
    """What needs no run; secrets that are none in this project do not block."""
    verdict = await _judge_without_run(call, policy)
    blocking = list_blocking_fingerprints(verdict.findings)
    if not blocking:
        return verdict
    find = partial(find_exemptions, project_id=project_id, fingerprints=blocking)
    return apply_exemptions(verdict, await run_in_db_thread(find))


async def judge_in_shadow(
    call: Call, verdict: CallVerdict, *, policy: LoadedPolicy, project_id: int
) -> ShadowedCall | None:
    """What a draft says that runs beside the policy, if there is one. Secrets that are
    none are known from the policy's own verdict."""
    at = datetime.now(UTC)
    shadow = find_shadow(project_id=project_id, policy=policy, at=at)
    if shadow is None:
        return None
    draft = shadow.draft
    if draft is None or draft.policy.tools == policy.policy.tools:
        return ShadowedCall(shadow=shadow, verdict=verdict)
    try:
        judged = await _judge_without_run(call, draft)
        known = copy_exemptions(judged, verdict)
    except Exception as error:
        return ShadowedCall(shadow=shadow, verdict=report_trouble(shadow, error))
    return ShadowedCall(shadow=shadow, verdict=known or Unknown(NOT_EXEMPTED))


async def _judge_without_run(call: Call, policy: LoadedPolicy) -> CallVerdict:
    """Ask the gates that need no run; long calls, and schemas that somebody wrote, leave the
    event loop free."""
    if _is_short(call) and call.tool not in policy.policy.tools.schemas:
        return _judge(call, policy)
    return await run_long(_judge, call, policy)


def _judge(call: Call, policy: LoadedPolicy) -> CallVerdict:
    return judge_call(
        rules=policy.policy.tools,
        call=call,
        fingerprint_key=get_fingerprint_key(),
        server=get_own_server(),
    )


def _is_short(call: Call) -> bool:
    if isinstance(call, CommandCall) and call.arguments is None:
        return len(call.command) < _LONG
    return len(repr(call)) < _LONG


def _build_key(verdict: CallVerdict, *, run: str, policy: LoadedPolicy) -> str:
    """What makes two calls the same; empty where a call is never repeated."""
    call = verdict.call
    if verdict.redacted or (isinstance(call, ToolCall) and call.arguments_json):
        return ""
    return build_call_key(
        run=run,
        tool=call.tool,
        arguments={"kind": call.kind, **call.to_fields()},
        policy_hash=policy.hash,
    )


def _get_newest_result(
    agent: AgentPrincipal, run_code: str, key: str
) -> ToolCallRow | None:
    """The newest result that succeeded and was kept whole."""
    return (
        ToolCallRow.objects.filter(
            run__code=run_code,
            run__agent_id=agent.agent_id,
            key=key,
            ok=True,
            output__isnull=False,
        )
        .order_by("-pk")
        .first()
    )
