"""python -m tests.guidance.core.held_out.measure: the share of each set that is held.

… measure                     all parts, every set by class
… measure b accidents         one set, one part
… measure ab accidents passed lists the calls that were not held (or: held)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from guidance.core.tools.judge_call import CallVerdict, judge_call
from guidance.core.tools.section import ToolRules
from tests.guidance.core.held_out.cases import SETS, Case, list_cases

_RULES = ToolRules()


@dataclass(slots=True)
class Share:
    """Of one set or one of its classes: how many calls, and how many were held."""

    name: str
    total: int = 0
    held: int = 0
    warned: int = 0
    classes: dict[str, Share] = field(default_factory=dict)

    @property
    def part(self) -> float:
        return self.held / self.total if self.total else 0.0

    def count(self, decision: str) -> None:
        self.total += 1
        self.held += decision in {"require-confirmation", "block"}
        self.warned += decision == "warn"

    def __str__(self) -> str:
        return f"{self.name}: {self.held} of {self.total} held, {self.part:.1%}" + (
            f" ({self.warned} warned of)" if self.warned else ""
        )

    def list_lines(self) -> Iterator[str]:
        yield str(self)
        for name in sorted(self.classes):
            yield f"    {self.classes[name]}"


def judge(case: Case) -> CallVerdict:
    """Under the default policy."""
    return judge_call(rules=_RULES, call=case.call, fingerprint_key=b"held out")


def measure_share(name: str, *, parts: str = "abcd") -> Share:
    share = Share(name)
    for case in list_cases(name, parts=parts):
        decision = judge(case).decision
        share.count(decision)
        share.classes.setdefault(case.label, Share(case.label)).count(decision)
    return share


def list_calls(name: str, *, parts: str, held: bool) -> Iterator[str]:
    """The calls that were held, or those that were not, with the rules that spoke."""
    for case in list_cases(name, parts=parts):
        verdict = judge(case)
        if (verdict.decision in {"require-confirmation", "block"}) is held:
            rules = [
                str(finding.details.get("rule", finding.gate))
                for finding in verdict.findings
            ]
            told = {"id": case.id, "class": case.label, "decision": verdict.decision}
            call = {"tool": case.call.tool, **case.call.to_fields()}
            yield json.dumps({**told, "rules": rules, **call}, ensure_ascii=False)


def main(arguments: Iterable[str]) -> None:
    parts, *rest = [*arguments] or ["abcd"]
    names = rest[:1] or SETS
    for name in names:
        if rest[1:]:
            print(*list_calls(name, parts=parts, held=rest[1] == "held"), sep="\n")
        print(*measure_share(name, parts=parts).list_lines(), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
