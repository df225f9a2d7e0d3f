"""Policies as rows of their list, and the versions of one as its history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from accounts.models import Project, User
from console.format import ShownMoment, build_past_moment, format_count
from console.people import Person, build_person
from console.policies.changes import describe_changes, list_changes
from gateway.decision_counts import Around
from guidance.core.policy.sentences import count_own_settings
from guidance.models import PolicyActivation, PolicyVersion
from ledger.models import Run
from ledger.selectors import exclude_system_runs
from reviews.policies.selectors import ListedPolicy, list_policies, read_document
from safetext import make_visible_line

# Older versions are still there to compare with.
HISTORY_LIMIT = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """`since` is None while no version is in force."""

    name: str
    version: int | None
    versions: str
    since: ShownMoment | None
    by: Person | None
    note: str
    own: str
    runs: str


def list_policy_rows(project: Project, at: datetime) -> list[PolicyRow]:
    listed = list_policies(project)
    ids = [each.active.pk for each in listed if each.active]
    runs = count_runs_by_version(ids)
    return [_build_row(each, runs, at) for each in listed]


def count_runs_by_version(ids: Iterable[int]) -> Mapping[int, int]:
    """How many runs of agents began under each of these versions."""
    runs = exclude_system_runs(Run.objects.filter(policy_id__in=ids))
    counted = runs.order_by().values_list("policy_id").annotate(count=Count("pk"))
    return dict(counted)


def _build_row(
    listed: ListedPolicy, runs: Mapping[int, int], at: datetime
) -> PolicyRow:
    active, act = listed.active, listed.activation
    own = count_own_settings(read_document(active)) if active else 0
    return PolicyRow(
        name=listed.policy.name,
        version=active.version if active else None,
        versions=format_count(listed.versions, "version"),
        since=build_past_moment(act.at, at) if act else None,
        by=_build_person(act.by) if act else None,
        note=make_visible_line(act.note) if act else "",
        own=format_count(own, "setting") if own else "",
        runs=format_count(runs.get(active.pk, 0), "run") if active else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAct:
    """A time when a version came into force. `apart` is false where that is how the
    version began, so that nothing needs to be said again. `did` is what was decided
    before and after it."""

    note: str
    at: ShownMoment
    by: Person | None
    apart: bool
    did: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryItem:
    """`state` is "active", "draft" (never in force) or "old". `changes` are those against
    the version `base`, which was in force when it was stored."""

    number: int
    state: str
    base: int | None
    note: str
    by: Person | None
    at: ShownMoment
    changes: str
    acts: tuple[ShownAct, ...]


def build_history(
    versions: Iterable[PolicyVersion],
    activations: Iterable[PolicyActivation],
    *,
    around: Mapping[int, Around],
    active: int | None,
    at: datetime,
) -> tuple[HistoryItem, ...]:
    """Of versions and activations, the newest first; the oldest version given is only
    compared with."""
    rows, known = list(versions), list(activations)
    acts: dict[int, list[PolicyActivation]] = {}
    for act in known:
        acts.setdefault(act.version_id, []).append(act)
    items = []
    for place, row in enumerate(rows[:HISTORY_LIMIT]):
        base = _find_base(row, known, rows[place + 1 : place + 2])
        changes = list_changes(read_document(base), read_document(row)) if base else ()
        items.append(
            HistoryItem(
                number=row.version,
                state=_name_state(row, acts, active),
                base=base.version if base else None,
                note=make_visible_line(row.note),
                by=_build_person(row.created_by),
                at=build_past_moment(row.created_at, at),
                changes=describe_changes(changes) if base else "",
                acts=tuple(
                    ShownAct(
                        note=make_visible_line(act.note),
                        at=build_past_moment(act.at, at),
                        by=_build_person(act.by),
                        apart=(act.note, act.by_id) != (row.note, row.created_by_id),
                        did=_describe_effect(around.get(act.pk)),
                    )
                    for act in acts.get(row.pk, ())
                ),
            )
        )
    return tuple(items)


def _find_base(
    row: PolicyVersion,
    activations: Iterable[PolicyActivation],
    previous: Sequence[PolicyVersion],
) -> PolicyVersion | None:
    """What was in force when it was stored; for the first ones, the version before it."""
    for act in activations:
        if act.at < row.created_at and act.version_id != row.pk:
            return act.version
    return previous[0] if previous else None


def _describe_effect(around: Around | None) -> tuple[str, ...]:
    """How many decisions asked a person or stopped something, before and after."""
    if around is None or not around.after.decisions:
        return ()
    sides = [side for side in around if side and side.decisions]
    counts = {
        "asked": [(side.asked, side.decisions) for side in sides],
        "stopped": [(side.stopped, side.decisions) for side in sides],
    }
    when = ("before", "since")[-len(sides) :]
    return tuple(
        f"{word} "
        + ", ".join(
            f"{n:,} of {of:,} {said}" for (n, of), said in zip(pairs, when, strict=True)
        )
        for word, pairs in counts.items()
        if word == "asked" or any(n for n, _ in pairs)
    )


def _name_state(
    row: PolicyVersion, acts: Mapping[int, object], active: int | None
) -> str:
    if row.version == active:
        return "active"
    return "old" if row.pk in acts else "draft"


def _build_person(user: User | None) -> Person | None:
    return build_person(user) if user else None
