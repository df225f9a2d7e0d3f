"""One version of a policy as its page shows it, with the policy's history beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from accounts.models import Project
from console.format import format_count
from console.gates.criteria import SEVERITY_TONES, ShownCriterion, list_criteria
from console.policies.changes import ShownChange, list_changes, write_policy
from console.policies.rows import (
    HISTORY_LIMIT,
    HistoryItem,
    build_history,
    count_runs_by_version,
)
from console.policies.tool_rules import RuleRow, list_rule_rows
from gateway.decision_counts import count_around_activations
from guidance.core.checks import GateDefinition
from guidance.core.policy.sentences import Sentence, Subject, Value, describe_policy
from guidance.models import PolicyVersion
from guidance.selectors import find_version_in_force, get_policy
from guidance.services import DEFAULT
from ledger.models import Run, RunStatus
from ledger.selectors import exclude_system_runs
from reviews.policies.assignments import list_assignments
from reviews.policies.backtest.selectors import find_result
from reviews.policies.second_manager import WaitingVersion, find_waiting
from reviews.policies.selectors import (
    Document,
    list_activations,
    list_versions,
    read_document,
)
from reviews.policies.shadow.selectors import find_latest, is_running
from reviews.policies.suggestions.selectors import count_suggestions
from reviews.queue.rule_counts import count_rules
from safetext import make_visible, make_visible_line

DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCard:
    slug: str
    name: str
    description: str
    severity: str
    tone: str
    mode: str
    attempts: str
    criteria: tuple[ShownCriterion, ...]
    guidance: str

    @property
    def asks(self) -> str:
        return format_count(len(self.criteria), "criterion", "criteria")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rail:
    """The history of a policy, and how much it is used. `in_force` is None while it has
    only drafts; `waiting` is the version that a second manager is asked about."""

    name: str
    in_force: int | None
    newest: int
    items: tuple[HistoryItem, ...]
    older: int
    used: str
    assigned: tuple[str, ...]
    takes_two: bool
    running: str
    publish: str
    waiting: WaitingVersion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowNotice:
    """A draft beside this policy: one that runs, or the last one of this version."""

    code: str
    version: int
    running: bool
    seen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The newest finished backtest of a version that is not in force."""

    code: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPage:
    number: int
    document: Document
    subjects: tuple[Subject, ...]
    changes: tuple[ShownChange, ...]
    gates: tuple[GateCard, ...]
    rules: tuple[RuleRow, ...]
    yaml: str
    rail: Rail
    shadow: ShadowNotice | None
    trial: Trial | None
    suggestions: int

    @property
    def act(self) -> str:
        """What putting it in force is called."""
        drafts = {item.number for item in self.rail.items if item.state == "draft"}
        return "Publish" if self.number in drafts else "Restore"

    @property
    def legend(self) -> str:
        """What a filled value says, if there are any."""
        return f"not as in version {self.rail.in_force}" if self.changes else ""


def build_policy_page(
    project: Project, version: PolicyVersion, at: datetime
) -> PolicyPage:
    rail = build_rail(project, version.name, at)
    document = read_document(version)
    before = None
    if rail.in_force not in (None, version.version):
        active = find_version_in_force(project_id=project.pk, name=version.name)
        before = read_document(active) if active else None
    policy = get_policy(version.pk).policy
    counts = count_rules(project_id=project.pk, days=DAYS, at=at)
    return PolicyPage(
        number=version.version,
        document=document,
        subjects=tuple(map(_show_subject, describe_policy(document, before))),
        changes=list_changes(before, document) if before is not None else (),
        gates=tuple(_build_gate(gate) for gate in policy.gates.values()),
        rules=list_rule_rows(policy, counts.rules),
        yaml=write_policy(document),
        rail=rail,
        shadow=_find_shadow(version, at),
        trial=_find_trial(version) if before is not None else None,
        suggestions=count_suggestions(project, version.name),
    )


def _show_subject(subject: Subject) -> Subject:
    sentences = (tuple(map(_show_part, each.parts)) for each in subject.sentences)
    return replace(subject, sentences=tuple(Sentence(parts=each) for each in sentences))


def _show_part(part: str | Value) -> str | Value:
    if isinstance(part, str):
        return make_visible(part)
    return replace(
        part,
        path=make_visible(part.path),
        text=make_visible(part.text),
        default=make_visible(part.default),
        entries=tuple(map(make_visible, part.entries)),
        before=None if part.before is None else make_visible(part.before),
    )


def _find_trial(version: PolicyVersion) -> Trial | None:
    found = find_result(version.project_id, version.name, version.document)
    if found is None:
        return None
    judged = format_count(found["judged"], "decision")
    return Trial(code=found["id"], found=f"{found['changed']:,} of {judged} change")


def _find_shadow(version: PolicyVersion, at: datetime) -> ShadowNotice | None:
    found = find_latest(version, at)
    if found is None:
        return None
    return ShadowNotice(
        code=str(found.shadow.code),
        version=found.shadow.version.version,
        running=is_running(found.shadow, at),
        seen=format_count(found.changed, "decision"),
    )


def build_new_rail(project: Project, name: str) -> Rail:
    """Of a policy that has no version yet."""
    return Rail(
        name=name,
        in_force=None,
        newest=0,
        items=(),
        older=0,
        used="",
        assigned=(),
        takes_two=_needs_second_manager(project, None),
        running="",
        publish=name_publishing(project, None),
    )


def build_rail(project: Project, name: str, at: datetime) -> Rail:
    rows = list_versions(project, name)
    # One more than is shown: the last one is compared with what was before.
    versions = list(rows[: HISTORY_LIMIT + 1])
    active = find_version_in_force(project_id=project.pk, name=name)
    activations = list(list_activations(project, name))
    runs = count_runs_by_version([active.pk]) if active else {}
    return Rail(
        name=name,
        in_force=active.version if active else None,
        newest=versions[0].version,
        items=build_history(
            versions,
            activations,
            around=count_around_activations(
                project_id=project.pk, name=name, activations=activations
            ),
            active=active.version if active else None,
            at=at,
        ),
        older=rows.count() - HISTORY_LIMIT if len(versions) > HISTORY_LIMIT else 0,
        used=format_count(runs.get(active.pk, 0), "run") if active else "",
        assigned=tuple(
            ", ".join(f"{what} {which}" for what, which in each.match.to_json().items())
            for each in list_assignments(project.pk)
            if each.policy == name
        ),
        takes_two=_needs_second_manager(project, active),
        running=describe_running(project, name),
        publish=name_publishing(project, active),
        waiting=find_waiting(project.pk, name),
    )


def describe_running(project: Project, name: str) -> str:
    """How many runs in progress are judged by a version of it."""
    runs = exclude_system_runs(
        Run.objects.filter(
            project=project,
            policy__name=name,
            status__in=(RunStatus.RUNNING, RunStatus.PAUSED),
        )
    )
    return format_count(runs.count(), "run")


def name_publishing(project: Project, active: PolicyVersion | None) -> str:
    """What the button does that puts another version in force."""
    return (
        "Ask a second manager" if _needs_second_manager(project, active) else "Publish"
    )


def _needs_second_manager(project: Project, active: PolicyVersion | None) -> bool:
    """For a policy that has no version in force the default one decides."""
    version = active or find_version_in_force(project_id=project.pk, name=DEFAULT)
    return version is not None and get_policy(version.pk).policy.four_eyes.policy


def _build_gate(gate: GateDefinition) -> GateCard:
    return GateCard(
        slug=gate.slug,
        name=make_visible_line(gate.name),
        description=make_visible(gate.description),
        severity=gate.severity,
        tone=SEVERITY_TONES[gate.severity],
        mode=gate.mode,
        attempts=format_count(gate.retry.max_attempts, "attempt"),
        criteria=list_criteria(gate),
        guidance=make_visible(gate.guidance).strip(),
    )
