"""Several gates combined into one check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from guidance.core.checks.definition_reader import Refused, find_id_problem, read_gate
from guidance.core.checks.definitions import (
    Criterion,
    GateDefinition,
    get_strictest_mode,
)
from guidance.core.document_reader import Problem

CHECK_LIMIT = 50
HINT_LIMIT = 3


@dataclass(frozen=True, slots=True)
class CombinedGates:
    """The gates of a check in their order: entry n of a verdict speaks of the nth."""

    gates: tuple[GateDefinition, ...]

    @property
    def mode(self) -> str:
        return get_strictest_mode(tuple(gate.mode for gate in self.gates))

    @property
    def max_attempts(self) -> int:
        return min(gate.retry.max_attempts for gate in self.gates)

    @property
    def preserve_context(self) -> bool:
        return any(gate.retry.preserve_context for gate in self.gates)

    @property
    def verified(self) -> dict[str, Criterion]:
        """Every criterion with a verifier, by the name that evidence gives it."""
        return {
            f"{gate.slug}.{place}": criterion
            for gate in self.gates
            for place, criterion in enumerate(gate.criteria, 1)
            if criterion.verifier is not None
        }

    def list_hints(self, failed: Iterable[int] = ()) -> tuple[str, ...]:
        """The first few hints of the gates with these numbers; of all if none failed."""
        numbers = set(failed)
        texts = dict.fromkeys(
            hint
            for number, gate in enumerate(self.gates, 1)
            if not numbers or number in numbers
            for hint in gate.hints
        )
        return tuple(texts)[:HINT_LIMIT]


def combine(gates: Iterable[GateDefinition]) -> CombinedGates:
    """The same gate twice counts once; one id with two definitions is refused."""
    found: dict[str, GateDefinition] = {}
    for gate in gates:
        if found.setdefault(gate.slug, gate) != gate:
            raise Refused((("gates", f"{gate.slug} is defined in two ways"),))
    if not found:
        raise Refused((("gates", "a check needs at least one gate"),))
    if len(found) > CHECK_LIMIT:
        raise Refused((("gates", f"a check takes at most {CHECK_LIMIT} gates"),))
    return CombinedGates(tuple(found.values()))


def choose_gates(
    *,
    named: Sequence[str],
    inline: Sequence[object],
    policy: Mapping[str, GateDefinition],
) -> CombinedGates:
    """The gates that a check names and those it brings; Refused lists all problems.

    A check may add gates of its own, but none that takes the id of a gate of the
    policy: it would be milder under a name that people trust.
    """
    problems: list[Problem] = []
    found: dict[str, GateDefinition] = {}
    for place, name in enumerate(named):
        if name in policy:
            found[name] = policy[name]
        else:
            why = find_id_problem(name) or "the policy has no gate with this id"
            problems.append((f"gates.{place}", why))
    for place, document in enumerate(inline):
        path = f"inline.{place}"
        try:
            gate = read_gate(document)
        except Refused as refused:
            problems += [
                (f"{path}.{inner}" if inner else path, why)
                for inner, why in refused.errors
            ]
            continue
        if policy.get(gate.slug, gate) != gate:
            problems.append((f"{path}.id", "a gate of the policy has this id"))
        elif found.setdefault(gate.slug, gate) != gate:
            problems.append((f"{path}.id", f"{gate.slug} is defined in two ways"))
    if problems:
        raise Refused(tuple(problems))
    return combine(found.values())
