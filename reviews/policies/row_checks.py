"""Are the rows of policies what their chain says? Versions, which is in force, for whom."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from accounts.models import SYSTEM_POLICIES
from guidance.core.canonical import hash_text
from guidance.models import Policy, PolicyVersion
from guidance.selectors import load_policy_choice
from ledger.chain import format_timestamp
from ledger.models import Entry, Run
from ledger.verification.row_checks import Mismatch
from ledger.verification.unreadable import describe, refuse_other
from reviews.models import PolicyShadow, ShadowEnd
from reviews.policies.limits.row_checks import list_raise_faults


@dataclass(slots=True)
class ExpectedPolicies:
    """What a project's chain says of its policies; beside each the entry that says so."""

    hashes: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    active: dict[str, tuple[int, int]] = field(default_factory=dict)
    # Whether agents choose is None as long as an older server has recorded nothing of it.
    assigned: tuple[list[Any], bool | None, int] = ([], None, 0)
    # By the shadow's id: policy, version, when it ends, and why it ended before that.
    shadows: dict[str, tuple[list[Any], int]] = field(default_factory=dict)

    def take(
        self, entry_type: str, payload: Mapping[str, Any], at: str, seq: int
    ) -> None:
        match entry_type:
            case "policy.recorded":
                for version in payload["versions"]:
                    self._add(version, seq)
                    if version["active"]:
                        self.active[version["name"]] = (version["version"], seq)
                if "assignments" in payload:
                    self._assign(payload, seq)
            case "policy.stored":
                self._add(payload, seq)
            case "policy.activated":
                self.active[payload["name"]] = (payload["version"], seq)
                self._end_published(payload, at, seq)
            case "policy.shadow_started":
                said = [payload["name"], payload["version"], payload["ends_at"], ""]
                self.shadows[payload["shadow"]] = (said, seq)
            case "policy.shadow_stopped":
                self._end_shadow(payload["shadow"], ShadowEnd.STOPPED.value, seq)
            case "policy.assigned":
                self._assign(payload, seq)
            case _:
                pass  # it changes no row

    def _assign(self, payload: Mapping[str, Any], seq: int) -> None:
        self.assigned = (payload["assignments"], payload["agents_choose"], seq)

    def _end_published(self, payload: Mapping[str, Any], at: str, seq: int) -> None:
        draft = [payload["name"], payload["version"]]
        for code, (said, _) in self.shadows.items():
            if said[:2] == draft and said[2] > at and not said[3]:
                self._end_shadow(code, ShadowEnd.PUBLISHED.value, seq)

    def _end_shadow(self, code: str, end: str, seq: int) -> None:
        said, _ = self.shadows[code]
        self.shadows[code] = ([*said[:3], end], seq)

    def _add(self, version: Mapping[str, Any], seq: int) -> None:
        key = (version["name"], version["version"])
        self.hashes[key] = (version["hash"], seq)


def compare_policies(run_ids: Sequence[int]) -> Iterator[Mismatch]:
    """Every row of policies that was changed, removed or added past the writer.

    The chain may go over several runs: what it says in the end is told of the last one.
    """
    chains = Run.objects.filter(intent=SYSTEM_POLICIES, agent__name=SYSTEM_POLICIES)
    projects = chains.filter(pk__in=run_ids).values_list("project_id", flat=True)
    for project_id in sorted(set(projects)):
        newest = chains.filter(project_id=project_id).latest("pk")
        if newest.pk in run_ids:
            for reason, seq in _list_faults(project_id):
                yield Mismatch(run_id=newest.pk, seq=seq, reason=reason)


def _list_faults(project_id: int) -> Iterator[tuple[str, int]]:
    expected = ExpectedPolicies()
    entries = Entry.objects.filter(
        project_id=project_id,
        run__agent__name=SYSTEM_POLICIES,
        type__startswith="policy.",
    ).order_by("run_id", "seq")
    seq = 0
    columns = ("type", "payload", "at", "seq")
    for entry_type, payload, at, seq in entries.values_list(*columns):
        try:
            expected.take(entry_type, json.loads(payload), format_timestamp(at), seq)
        except Exception as error:
            refuse_other(error)
            yield f"its {entry_type} fits no row: {describe(error)}", seq
            return
    yield from _compare_versions(project_id, expected, last=seq)
    yield from _compare_active(project_id, expected, last=seq)
    yield from _compare_assignments(project_id, expected, last=seq)
    yield from _compare_shadows(project_id, expected, last=seq)
    yield from list_raise_faults(project_id, last=seq)


def _compare_versions(
    project_id: int, expected: ExpectedPolicies, *, last: int
) -> Iterator[tuple[str, int]]:
    rows = PolicyVersion.objects.filter(project_id=project_id)
    missing = dict(expected.hashes)
    for name, number, mark, text in rows.values_list(
        "name", "version", "hash", "document"
    ):
        said = missing.pop((name, number), None)
        row = f"the policy version {name}@{number}"
        if said is None:
            yield f"{row} is stored, and no entry tells of it", last
        elif mark != said[0]:
            yield f"{row} has the hash {mark}, the chain says {said[0]}", said[1]
        elif hash_text(text) != mark:
            yield f"{row} has a document that does not fit its hash", said[1]
    for (name, number), (_, seq) in missing.items():
        yield f"the policy version {name}@{number} is missing", seq


def _compare_active(
    project_id: int, expected: ExpectedPolicies, *, last: int
) -> Iterator[tuple[str, int]]:
    rows = Policy.objects.filter(project_id=project_id)
    stored = dict(rows.values_list("name", "active__version"))
    for name in sorted({*stored, *expected.active}):
        number, seq = expected.active.get(name, (None, last))
        if stored.get(name) != number:
            yield (
                f"of the policy {name} version {stored.get(name)} is in force, the "
                f"chain says {number}",
                seq,
            )


def _compare_assignments(
    project_id: int, expected: ExpectedPolicies, *, last: int
) -> Iterator[tuple[str, int]]:
    said, choose, seq = expected.assigned
    stored = load_policy_choice(project_id=project_id)
    seq = seq or last
    if [each.to_json() for each in stored.assignments] != said:
        yield "the assignments of policies are not those that the chain says", seq
    if choose is not None and stored.agents_choose != choose:
        yield "whether agents choose their policy is not what the chain says", seq


def _compare_shadows(
    project_id: int, expected: ExpectedPolicies, *, last: int
) -> Iterator[tuple[str, int]]:
    rows = PolicyShadow.objects.filter(project_id=project_id).values_list(
        "code", "policy__name", "version__version", "ends_at", "end"
    )
    missing = dict(expected.shadows)
    for code, name, number, ends_at, end in rows:
        stored = [name, number, format_timestamp(ends_at), end]
        said, seq = missing.pop(str(code), (None, last))
        if stored != said:
            yield f"the shadow {code} is {stored}, the chain says {said}", seq
    for absent, (_, seq) in missing.items():
        yield f"the shadow {absent} is missing", seq
