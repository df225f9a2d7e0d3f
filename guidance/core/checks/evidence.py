"""Results that prove a criterion, where the agent's word is not enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from guidance.core.checks.combined_gates import CombinedGates
from guidance.core.checks.definition_reader import Refused, require_keys
from guidance.core.document_reader import Problem, Section

_NAME_LIMIT = 80
_SHA256 = re.compile(r"[0-9a-f]{64}")
# Shells give 0 to 255, Windows 32 bits, and a signal may stand as a negative number.
_LOW, _HIGH = -(2**31), 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEvidence:
    """What the criterion's command ended with, as the agent reports it."""

    verifier: ClassVar[str] = "command"
    criterion: str
    exit_code: int
    output_sha256: str

    @property
    def passed(self) -> bool:
        return self.exit_code == 0

    @property
    def said(self) -> str:
        return f"the command ended with exit code {self.exit_code}"

    def to_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEvidence:
    """What a judge said. Only the server makes one: no reader of a body does."""

    verifier: ClassVar[str] = "judge"
    criterion: str
    passed: bool
    rationale: str

    @property
    def said(self) -> str:
        """In one line, whatever the judge wrote."""
        return " ".join(self.rationale.split())

    def to_json(self) -> dict[str, object]:
        return asdict(self)


Evidence = CommandEvidence | JudgeEvidence


def list_unproven(
    gates: CombinedGates, evidence: Iterable[Evidence]
) -> tuple[str, ...]:
    """The criteria that still need a passing result of their own verifier.

    Of several results for one criterion all have to pass.
    """
    results: dict[tuple[str, str | None], bool] = {}
    for item in evidence:
        key = item.criterion, item.verifier
        results[key] = results.get(key, True) and item.passed
    return tuple(
        name
        for name, criterion in gates.verified.items()
        if not results.get((name, criterion.verifier))
    )


def read_evidence(
    given: Sequence[object], *, gates: CombinedGates
) -> tuple[CommandEvidence, ...]:
    """The command results of an agent's report; Refused names everything wrong."""
    problems: list[Problem] = []
    root = Section({"evidence": given}, path="", problems=problems)
    sections = root.read_parts("evidence")
    found = tuple(
        _read_command(section, document, gates)
        for section, document in zip(sections, given, strict=False)
    )
    if problems:
        raise Refused(tuple(problems))
    return found


def _read_command(
    section: Section, document: object, gates: CombinedGates
) -> CommandEvidence:
    name = section.read_text("criterion", most=_NAME_LIMIT)
    if section.is_valid("criterion"):
        criterion = gates.verified.get(name)
        if criterion is None:
            section.refuse("criterion", "no criterion of this check asks for a result")
        elif criterion.verifier != CommandEvidence.verifier:
            section.refuse("criterion", "a judge decides on this one")
    require_keys(section, document, "exit_code")
    exit_code = section.read_integer("exit_code", _HIGH, low=_LOW, high=_HIGH)
    digest = section.read_text("output_sha256", most=64)
    if section.is_valid("output_sha256") and not _SHA256.fullmatch(digest):
        section.refuse("output_sha256", "must be 64 small hexadecimal digits")
    section.close()
    return CommandEvidence(criterion=name, exit_code=exit_code, output_sha256=digest)
