"""What the server saw of a run, read when it finishes.

Counts come from the database as counts. Of calls only those are read one by one that ran
and have something to say; what is kept of them has a limit, however long the run was.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, QuerySet

from guidance.core.outcomes.call_facts import CallFacts, build_call_facts
from guidance.core.outcomes.evaluators.forbidden_dependencies import is_allowed
from guidance.core.outcomes.facts import (
    NAMED_LIMIT,
    AddedDependency,
    NamedCall,
    Seen,
    SeenTests,
    SeverityCount,
)
from guidance.core.outcomes.section import Evaluators
from guidance.core.outcomes.violations import NO_VIOLATIONS
from ledger.state import RunState
from reviews.models import (
    GateCheck,
    GrantState,
    ToolCall,
    Violation,
    ViolationSource,
)

# The rule that a call breaks which ran although it was blocked or denied.
RAN_ALTHOUGH_REFUSED = "ran-although-refused"
TOOLS_LIMIT = 50
FILES_LIMIT = 10_000
DEPENDENCIES_LIMIT = 500
CHECKS_LIMIT = 50
_CHUNK = 500
_RAN = Q(grant__state=GrantState.SPENT)
# By a person: on this call, or on such calls before.
_APPROVED = Q(call__review__isnull=False) | Q(call__grant__permission__isnull=False)
# Whoever asks first and is let go on is not blamed for it, and less so if they are not.
_HALVED = Q(auto_corrected=True) | Q(call__review__ruling__action="deny")
_EXCUSED = Q(call__review__ruling__action__in=("approve", "amend")) | Q(
    call__grant__permission__isnull=False
)


def load_seen(run: RunState, rules: Evaluators) -> Seen:
    """A run is locked meanwhile: what cannot be there is not asked for."""
    calls = ToolCall.objects.filter(run_id=run.id)
    counts = calls.aggregate(
        calls=Count("pk"),
        ran=Count("pk", filter=_RAN),
        blocked=Count("pk", filter=Q(decision="block")),
    )
    # As they are told of now: a run may have begun when other findings counted.
    violations = Violation.objects.filter(run_id=run.id).exclude(gate__in=NO_VIOLATIONS)
    by_source = _count_severities(violations)
    told = _read_calls(calls, rules) if counts["ran"] else _Calls(rules)
    if by_source:
        told.add_refused(violations)
    return Seen(
        **counts,
        # Steps that are only observed are held to no rule.
        steps=0 if run.observed else run.memory.steps,
        tools=_list_tools(calls) if counts["ran"] else (),
        found=tuple(by_source.get(ViolationSource.GATE, ())),
        recorded=tuple(by_source.get(ViolationSource.AGENT, ())),
        rules=_list_rules(violations) if by_source else (),
        test_gate=_find_gate_verdict(run.id, rules.tests_pass.gates),
        **(_load_destructive(violations) if by_source else {}),
        **told.to_seen(),
    )


def _list_tools(calls: QuerySet[ToolCall]) -> tuple[str, ...]:
    tools = calls.filter(_RAN).values_list("tool").annotate(times=Count("pk"))
    return tuple(tool for tool, _ in tools.order_by("-times", "tool")[:TOOLS_LIMIT])


def _list_rules(violations: QuerySet[Violation]) -> tuple[tuple[str, int], ...]:
    broken = violations.values_list("rule").annotate(times=Count("pk"))
    return tuple(broken.order_by("-times", "rule")[:NAMED_LIMIT])


def _count_severities(
    violations: QuerySet[Violation],
) -> dict[str, list[SeverityCount]]:
    """By who found them; no key where there are none."""
    rows = violations.values_list("source", "severity").annotate(
        count=Count("pk"),
        halved=Count("pk", filter=_HALVED),
        excused=Count("pk", filter=_EXCUSED),
    )
    found: dict[str, list[SeverityCount]] = defaultdict(list)
    for source, severity, count, halved, excused in rows.order_by("severity"):
        found[source].append(
            SeverityCount(
                severity=severity, count=count, halved=halved, excused=excused
            )
        )
    return found


def _load_destructive(violations: QuerySet[Violation]) -> dict[str, Any]:
    ran = violations.filter(destructive=True, call__grant__state=GrantState.SPENT)
    unapproved = ran.exclude(_APPROVED)
    named = unapproved.order_by("seq", "place").values_list("seq", "rule", "text")
    return {
        "destructive": tuple(
            NamedCall(seq=seq, rule=rule, text=text)
            for seq, rule, text in named[:NAMED_LIMIT]
        ),
        "destructive_count": unapproved.aggregate(n=Count("call", distinct=True))["n"],
        "approved_count": ran.filter(_APPROVED).aggregate(
            n=Count("call", distinct=True)
        )["n"],
    }


def _find_gate_verdict(run_id: int, gates: Collection[str]) -> bool | None:
    """Of the newest check of such a gate; None where it was never judged, or a person let
    the run go on without it."""
    checks = GateCheck.objects.filter(run_id=run_id).order_by("-pk")
    for status, definitions in checks.values_list("status", "gates")[:CHECKS_LIMIT]:
        if any(gate["id"] in gates for gate in json.loads(definitions)):
            return None if status in {"open", "skipped"} else bool(status == "passed")
    return None


@dataclass(slots=True)
class _Calls:
    """The sums of what calls tell, one after the other."""

    rules: Evaluators
    edits: int = 0
    added: int = 0
    removed: int = 0
    files: set[str] = field(default_factory=set)
    refused: dict[str, AddedDependency] = field(default_factory=dict)
    allowed: dict[str, AddedDependency] = field(default_factory=dict)
    listed: list[NamedCall] = field(default_factory=list)
    listed_count: int = 0
    tests: SeenTests | None = None
    last_edit: int = 0

    def add(self, seq: int, facts: CallFacts, *, ok: bool | None) -> None:
        if facts.files:
            self.edits += 1
            self.last_edit = seq
            self.added += facts.lines_added
            self.removed += facts.lines_removed
            if len(self.files) < FILES_LIMIT:
                self.files.update(facts.files)
        self._add_dependencies(seq, facts)
        if facts.listed:
            self.listed_count += 1
            if len(self.listed) < NAMED_LIMIT:
                call = NamedCall(seq=seq, rule=facts.listed, text=facts.text)
                self.listed.append(call)
        if facts.tests:
            known = ok if facts.tests_tell else None
            self.tests = SeenTests(seq=seq, text=facts.tests, ok=known)

    def add_refused(self, violations: QuerySet[Violation]) -> None:
        """Calls that ran although they were not let run, as hooks told of them."""
        ran = violations.filter(rule=RAN_ALTHOUGH_REFUSED, source=ViolationSource.AGENT)
        rows = ran.order_by("seq", "place").values_list("seq", "rule", "text")
        named = list(rows[:NAMED_LIMIT])
        self.listed_count += ran.count() if len(named) == NAMED_LIMIT else len(named)
        self.listed += (NamedCall(seq=s, rule=r, text=t) for s, r, t in named)
        del self.listed[NAMED_LIMIT:]

    def _add_dependencies(self, seq: int, facts: CallFacts) -> None:
        """All that are refused come first: the limit never hides them."""
        via = "edit" if facts.files else "command"
        lists = self.rules.forbidden_dependencies
        for name in facts.dependencies:
            kept = self.allowed if is_allowed(name, lists) else self.refused
            if name not in kept and len(kept) < DEPENDENCIES_LIMIT:
                kept[name] = AddedDependency(seq=seq, name=name, via=via)

    def to_seen(self) -> dict[str, Any]:
        tests = self.tests
        if tests is not None and self.last_edit > tests.seq:
            # What was tested is not what there is now.
            tests = SeenTests(seq=tests.seq, text=tests.text, ok=None)
        added = [*self.refused.values(), *self.allowed.values()]
        return {
            "edits": self.edits,
            "lines_added": self.added,
            "lines_removed": self.removed,
            "files_changed": len(self.files),
            "dependencies": tuple(added[:DEPENDENCIES_LIMIT]),
            "forbidden": tuple(self.listed),
            "forbidden_count": self.listed_count,
            "tests": tests,
        }


def _read_calls(calls: QuerySet[ToolCall], rules: Evaluators) -> _Calls:
    """What a person changed is judged as it ran, not as the agent asked for it."""
    told = _Calls(rules)
    rows = calls.filter(
        _RAN, Q(facts__isnull=False) | Q(review__ruling__amended__isnull=False)
    ).order_by("seq")
    columns = ("seq", "kind", "facts", "ok", "review__ruling__amended")
    for seq, kind, facts, ok, amended in rows.values_list(*columns).iterator(_CHUNK):
        if amended is None:
            found = CallFacts.from_json(json.loads(facts or "{}"))
        else:
            found = build_call_facts(
                kind=kind,
                shown=json.loads(amended),
                preview=None,
                listed=rules.forbidden_commands.commands,
            )
        told.add(seq, found, ok=ok)
    return told
