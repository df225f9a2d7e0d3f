"""Gate definitions, read strictly: from a policy document, and from a check's own list."""

from __future__ import annotations

import re
from collections.abc import Mapping

from guidance.core.checks.definitions import (
    MODE_OF_SEVERITY,
    MODES,
    SEVERITIES,
    VERIFIERS,
    Criterion,
    GateDefinition,
    Retry,
)
from guidance.core.document_reader import Problem, Section
from guidance.core.settings import Words, collect_words, read_settings

GATES_LIMIT = 100
CRITERIA_LIMIT = 50
_NAME_LIMIT = 100
_TEXT_LIMIT = 500
_COMMAND_LIMIT = 1_000
_GUIDANCE_LIMIT = 4_000
_ID_LIMIT = 64
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# The same for the schema: there is no other place for the length of a key.
_ID_SHAPE = rf"(?=.{{1,{_ID_LIMIT}}}$){_ID.pattern}"

GATE_WORDS = {
    "*.severity": Words(
        "Severity",
        "Gives the mode where none is said: critical blocks, high and medium advise, "
        "low informs.",
    ),
    "*.name": Words("Name", "What people read; the id where left out."),
    "*.description": Words("Description", "What the gate is for."),
    "*.mode": Words("Mode", "What a FAIL does."),
    "*.criteria": Words("Criteria", "What work has to meet."),
    "*.criteria.*.text": Words("Text", "The criterion, in one line."),
    "*.criteria.*.verifier": Words("Verifier", "Who says that it is met."),
    "*.criteria.*.command": Words(
        "Command", "What is run where the verifier is a command."
    ),
    "*.guidance": Words("Guidance", "How to judge, for whoever does."),
    "*.retry": Words("Attempts", "How often work may be tried again."),
    **{f"*.retry.{name}": words for name, words in collect_words(Retry).items()},
}


class Refused(ValueError):
    """What was given cannot be used; `errors` holds every (path, message)."""

    def __init__(self, errors: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(f"{path}: {why}" for path, why in errors))
        self.errors = errors


def read_gates(root: Section) -> dict[str, GateDefinition]:
    """The gates that a policy document holds under `gates`, by their ids."""
    gates = {}
    given = root.read_named_parts("gates", most=GATES_LIMIT, pattern=_ID_SHAPE)
    for name, section in given.items():
        why = find_id_problem(name)
        if why is not None:
            root.refuse(f"gates.{name}", why)
        if section.has("id"):
            section.refuse("id", "the key of a gate is its id")
        gates[name] = _read_gate(section, name)
    return gates


def read_gate(document: object) -> GateDefinition:
    """A gate defined on the check itself; raises Refused naming everything wrong."""
    if not isinstance(document, Mapping):
        raise Refused((("", "must be an object"),))
    problems: list[Problem] = []
    section = Section(document, path="", problems=problems)
    name = section.read_text("id", most=_ID_LIMIT)
    why = find_id_problem(name)
    if section.is_valid("id") and why:
        section.refuse("id", why)
    gate = _read_gate(section, name)
    if problems:
        raise Refused(tuple(problems))
    return gate


def find_id_problem(name: str) -> str | None:
    """Why this cannot be the id of a gate, None if it can."""
    if not name.strip():
        return "the id of a gate is blank"
    if len(name) > _ID_LIMIT or not _ID.fullmatch(name):
        return (
            f"must be 1 to {_ID_LIMIT} small letters, digits and single hyphens,"
            " such as code-quality"
        )
    return None


def require_keys(section: Section, document: object, *names: str) -> None:
    """Refuse the keys that an object lacks, where no default may stand in."""
    if isinstance(document, Mapping):
        for name in names:
            if name not in document:
                section.refuse(name, "is missing")


def _read_gate(section: Section, name: str) -> GateDefinition:
    severity = section.read_choice("severity", "medium", among=SEVERITIES)
    gate = GateDefinition(
        slug=name,
        name=_read_line(section, "name", most=_NAME_LIMIT)
        if section.has("name")
        else name,
        description=_read_optional(section, "description", most=_TEXT_LIMIT),
        severity=severity,
        mode=section.read_choice("mode", MODE_OF_SEVERITY[severity], among=MODES),
        criteria=tuple(
            map(_read_criterion, section.read_parts("criteria", text_key="text"))
        ),
        guidance=_read_optional(section, "guidance", most=_GUIDANCE_LIMIT),
        retry=read_settings(section.read_part("retry"), Retry),
    )
    if len(gate.criteria) > CRITERIA_LIMIT:
        section.refuse("criteria", f"must be a list of at most {CRITERIA_LIMIT}")
    section.close()
    return gate


def _read_criterion(section: Section) -> Criterion:
    text = _read_line(section, "text", most=_TEXT_LIMIT)
    verifier = section.read_choice("verifier", "", among=VERIFIERS) or None
    command = None
    if verifier == "command" or section.has("command"):
        command = _read_line(section, "command", most=_COMMAND_LIMIT)
    if command and verifier != "command":
        section.refuse("command", "only the verifier command runs one")
    section.close()
    return Criterion(text=text, verifier=verifier, command=command)


def _read_optional(section: Section, name: str, *, most: int) -> str:
    return _read_filled_text(section, name, most=most) if section.has(name) else ""


def _read_filled_text(section: Section, name: str, *, most: int) -> str:
    text = section.read_text(name, most=most).strip()
    if not text and section.is_valid(name):
        section.refuse(name, "must not be blank")
    return text


def _read_line(section: Section, name: str, *, most: int) -> str:
    text = _read_filled_text(section, name, most=most)
    if len(text.splitlines()) > 1:
        section.refuse(name, "must be one line")
    return text
