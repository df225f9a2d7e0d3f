"""What a finished run is judged by: what the server saw of it, and what its agent says.

Both are stored in the entry that ends the run, so that it can be judged again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

# So many of a kind are named in the entry; all of them are counted.
NAMED_LIMIT = 20
TEXT_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityCount:
    """Violations of one severity; `halved` of them count half, `excused` ones nothing."""

    severity: str
    count: int
    halved: int = 0
    excused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCall:
    """A call that ran: the number of its entry, the rule it meets, and its text."""

    seq: int
    rule: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedDependency:
    """`name` stands behind its registry: npm:left-pad. `via` is edit or command."""

    seq: int
    name: str
    via: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTests:
    """The newest command that ran tests; `ok` is None where its result says nothing."""

    seq: int
    text: str
    ok: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the server saw: calls that ran were granted, and claimed or settled.

    `destructive` ran without a person's approval, `approved` with it; `forbidden` are on
    the policy's list. `test_gate` is whether the newest check of a gate about tests passed.
    """

    steps: int = 0
    calls: int = 0
    ran: int = 0
    blocked: int = 0
    edits: int = 0
    lines_added: int = 0
    lines_removed: int = 0
    files_changed: int = 0
    tools: tuple[str, ...] = ()
    found: tuple[SeverityCount, ...] = ()
    recorded: tuple[SeverityCount, ...] = ()
    rules: tuple[tuple[str, int], ...] = ()
    destructive: tuple[NamedCall, ...] = ()
    destructive_count: int = 0
    approved_count: int = 0
    forbidden: tuple[NamedCall, ...] = ()
    forbidden_count: int = 0
    dependencies: tuple[AddedDependency, ...] = ()
    tests: SeenTests | None = None
    test_gate: bool | None = None

    @property
    def lines_changed(self) -> int:
        return self.lines_added + self.lines_removed

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Seen:
        tests = document["tests"]
        many = {
            "found": SeverityCount,
            "recorded": SeverityCount,
            "destructive": NamedCall,
            "forbidden": NamedCall,
            "dependencies": AddedDependency,
        }
        made: dict[str, Any] = {
            name: tuple(kind(**item) for item in document[name])
            for name, kind in many.items()
        }
        return cls(
            **{
                **document,
                **made,
                "tools": tuple(document["tools"]),
                "rules": tuple((rule, count) for rule, count in document["rules"]),
                "tests": None if tests is None else SeenTests(**tests),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedTests:
    ran: bool
    passed: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the agent says when it finishes; None where it says nothing."""

    tests: ReportedTests | None = None
    lines_changed: int | None = None
    rework_lines: int | None = None
    tools_used: tuple[str, ...] = ()
    violations: tuple[SeverityCount, ...] | None = None
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeFacts:
    seen: Seen = field(default_factory=Seen)
    report: Report = field(default_factory=Report)
