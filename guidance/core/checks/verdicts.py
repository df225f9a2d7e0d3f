"""What a verdict says, what makes one unsound, and how it is written as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from guidance.core.checks.combined_gates import CHECK_LIMIT
from guidance.core.checks.definition_reader import require_keys
from guidance.core.checks.disguise import find_hidden_problem, opens_with_fail
from guidance.core.document_reader import Problem, Section

OVERALL = ("PASS", "FAIL")
RATIONALE_LIMIT = 2_000
# How a verdict may be written as text. None of these lines is itself read as one.
FORMS = (
    "GATE_REVIEW: PASS|FAIL - reason",
    "GATE_REVIEW: PASS|FAIL : reason",
    "GATE PASS|FAIL - reason",
    "GATE PASS|FAIL : reason",
    "PASS|FAIL - reason (only as the first line of the verdict field)",
    "GATE_VERDICTS and under it, for each gate, [n] PASS|FAIL - text",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateVerdict:
    """What was said about the nth gate of the check."""

    index: int
    passed: bool
    rationale: str

    def to_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`form` tells how it was written, which changes nothing about what it says."""

    overall: str
    rationale: str
    per_gate: tuple[GateVerdict, ...] = ()
    form: str = field(default="structured", compare=False)

    @property
    def passed(self) -> bool:
        """Nothing but PASS passes, and not beside a gate that failed."""
        return self.overall == "PASS" and not self.failed_gates

    @property
    def failed_gates(self) -> tuple[int, ...]:
        return tuple(entry.index for entry in self.per_gate if not entry.passed)

    def to_json(self) -> dict[str, object]:
        return {
            "overall": self.overall,
            "rationale": self.rationale,
            "per_gate": [entry.to_json() for entry in self.per_gate],
            "form": self.form,
        }


@dataclass(frozen=True, slots=True)
class VerdictProblem:
    """Why something is no verdict; `errors` holds every (path, message)."""

    errors: tuple[Problem, ...]
    forms: tuple[str, ...] = FORMS

    @property
    def message(self) -> str:
        return "; ".join(f"{path}: {why}" for path, why in self.errors)


def read_verdict_body(
    document: object, *, gates: int | None
) -> Verdict | VerdictProblem:
    """The structured verdict on so many gates; None where their number is unknown."""
    if not isinstance(document, Mapping):
        return VerdictProblem((("verdict", "must be an object"),))
    problems: list[Problem] = []
    section = Section(document, path="", problems=problems)
    require_keys(section, document, "overall")
    entries = section.read_parts("per_gate")
    verdict = Verdict(
        overall=section.read_choice("overall", "FAIL", among=OVERALL),
        rationale=section.read_text("rationale", most=RATIONALE_LIMIT).strip(),
        per_gate=tuple(map(_read_entry, entries, document["per_gate"]))
        if entries
        else (),
    )
    section.close()
    if not problems:
        problems += list_contradictions(verdict, gates=gates)
    return VerdictProblem(tuple(problems)) if problems else verdict


def render_verdict(verdict: Verdict) -> str:
    """The text that is read as the same verdict again."""
    lines = [f"GATE_REVIEW: {verdict.overall} - {verdict.rationale}"]
    if verdict.per_gate:
        lines.append("GATE_VERDICTS")
    for entry in verdict.per_gate:
        word = "PASS" if entry.passed else "FAIL"
        lines.append(f"[{entry.index}] {word} - {entry.rationale}")
    return "\n".join(lines)


def list_contradictions(verdict: Verdict, *, gates: int | None) -> list[Problem]:
    """Everything that a verdict contradicts itself in, or leaves unsaid.

    FAIL with nothing but passing entries is sound: the whole may fail for a reason
    that is no single gate's, and a FAIL is never argued away.
    """
    most = CHECK_LIMIT if gates is None else gates
    claimed = verdict.overall == "PASS"
    problems = _check_rationale("rationale", verdict.rationale, passed=claimed)
    seen: set[int] = set()
    for place, entry in enumerate(verdict.per_gate):
        path = f"per_gate.{place}"
        if not 1 <= entry.index <= most:
            problems.append((f"{path}.index", f"must be from 1 to {most}"))
        elif entry.index in seen:
            problems.append((f"{path}.index", f"gate {entry.index} has two entries"))
        seen.add(entry.index)
        if claimed and not entry.passed:
            why = f"overall is PASS, and gate {entry.index} failed"
            problems.append((f"{path}.passed", why))
        problems += _check_rationale(
            f"{path}.rationale", entry.rationale, passed=entry.passed
        )
    return problems


def _check_rationale(path: str, rationale: str, *, passed: bool) -> list[Problem]:
    if len(rationale) > RATIONALE_LIMIT:
        return [(path, f"must be at most {RATIONALE_LIMIT} characters")]
    if len(rationale.splitlines()) > 1:
        return [(path, "must be one line")]
    if not any(map(str.isalnum, rationale)):
        return [(path, "the reason is missing")]
    if rationale.startswith("<") and rationale.endswith(">"):
        return [(path, "this is the place of a reason, not a reason")]
    if passed and opens_with_fail(rationale):
        return [(path, "the reason of a PASS begins with FAIL")]
    if passed and (why := find_hidden_problem(rationale)):
        return [(path, why)]
    return []


def _read_entry(section: Section, document: object) -> GateVerdict:
    require_keys(section, document, "index", "passed")
    index = section.read_integer("index", 0, low=1, high=CHECK_LIMIT)
    passed = section.read_flag("passed", default=False)
    rationale = section.read_text("rationale", most=RATIONALE_LIMIT).strip()
    section.close()
    return GateVerdict(index=index, passed=passed, rationale=rationale)
