"""What a manager has typed in the editor: one document, as YAML and as a form."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from console.format import format_count
from console.policies.changes import (
    ShownChange,
    build_text_diff,
    describe_count,
    list_changes,
    write_policy,
)
from console.policies.fields import (
    ABSENT,
    Field,
    FieldGroup,
    FieldRefused,
    build_gate_groups,
    build_groups,
    build_rule_fields,
    find_built_in,
    format_choice,
    list_fields,
    read_value,
)
from guidance.core.policy.meaning import format_value, split_path
from guidance.core.policy.schema import POLICY_SCHEMA
from guidance.validation import Fault, check_yaml
from guidance.yaml_documents import YamlError, parse_yaml
from guidance.yaml_edits import REMOVED, change_yaml
from safetext import ShownDiff

Document = Mapping[str, Any]
NEW_GATE = {"severity": "medium", "criteria": ["What the work has to meet"]}
NEW_RULE = "require-confirmation"
_BOUNDS = re.compile(r"from ([-\d.]+) to ([-\d.]*\d)")
_ENDLESS = 10**9


class Refused(NamedTuple):
    """What was typed into a field and cannot be put into the YAML, and why."""

    typed: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """`refused` are texts that are not in the YAML, by the path of their field."""

    text: str
    document: Document
    faults: tuple[Fault, ...]
    refused: Mapping[str, Refused] = field(default_factory=dict)
    readable: bool = True

    @property
    def count(self) -> int:
        return len(self.faults) + len(self.refused)


def read_draft(
    text: str,
    posted: Mapping[str, str],
    *,
    side: str,
    rules: Sequence[str] = (),
    in_force: Document | None = None,
) -> Draft:
    """The YAML as it was typed, with what was typed into the form since, if that is the
    side that was touched last, and what a button does."""
    text = text.replace("\r\n", "\n")
    base = _parse(text)
    refused: dict[str, Refused] = {}
    if base is not None:
        changes: dict[tuple[str, ...], Any] = {}
        if side == "form":
            for each in list_fields(base, rules):
                typed = posted.get(each.name, each.text).replace("\r\n", "\n")
                if typed == each.text:
                    continue
                try:
                    value = each.parse(typed)
                except FieldRefused as error:
                    refused[each.path] = Refused(typed, str(error))
                else:
                    changes[each.keys] = REMOVED if value is ABSENT else value
        text = change_yaml(text, changes)
        changes = _read_button(posted, _parse(text) or {}, in_force or {})
        text = change_yaml(text, changes)
    checked = check_yaml(text)
    return Draft(
        text=text,
        document=checked.document,
        faults=checked.faults,
        refused=refused,
        readable=base is not None,
    )


def build_draft(document: Document) -> Draft:
    return read_draft(write_policy(document), {}, side="yaml")


def _parse(text: str) -> dict[str, Any] | None:
    try:
        document = parse_yaml(text).document
    except YamlError:
        return None
    return document if isinstance(document, dict) else None


def _read_button(
    posted: Mapping[str, str], document: Document, in_force: Document
) -> dict[tuple[str, ...], Any]:
    """What a button does: add a gate or a rule, remove one, or undo a change."""
    does = posted.get("do", "")
    gate = posted.get("new-gate", "").strip()
    rule = posted.get("new-rule", "").strip()
    if does == "add-gate" and gate:
        return {("gates", gate): NEW_GATE}
    if does == "add-rule" and rule:
        return {("tools", "rules", rule): NEW_RULE}
    if does.startswith("remove:"):
        keys = tuple(split_path(does.removeprefix("remove:")))
        return {_widen(document, in_force, keys): REMOVED}
    if does.startswith("undo:"):
        keys = tuple(split_path(does.removeprefix("undo:")))
        return build_undo(document, in_force, keys) if keys else {}
    return {}


def build_undo(
    document: Document, in_force: Document, keys: tuple[str, ...]
) -> dict[tuple[str, ...], Any]:
    """What makes a setting as it is in force."""
    value = read_value(in_force, keys)
    if value is not ABSENT:
        return {keys: value}
    return {_widen(document, in_force, keys): REMOVED}


def _widen(
    document: Document, in_force: Document, keys: tuple[str, ...]
) -> tuple[str, ...]:
    """What goes with a setting: all that it stands in and that was only there for it."""
    while len(keys) > 1 and read_value(in_force, keys[:-1]) is ABSENT:
        around = read_value(document, keys[:-1])
        if not isinstance(around, Mapping) or set(around) != {keys[-1]}:
            break
        keys = keys[:-1]
    return keys


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownField:
    """A field and how it stands: what is wrong with it, and what it was before."""

    field: Field
    fault: str
    was: str
    state: str
    record: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownGroup:
    group: FieldGroup
    rows: tuple[ShownField, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFault:
    """`target` is the id of its field, or of its line where it has none."""

    path: str
    message: str
    place: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    number: int
    kind: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """All that the editor shows of a draft."""

    draft: Draft
    groups: tuple[ShownGroup, ...]
    gates: tuple[ShownGroup, ...]
    rules: tuple[ShownField, ...]
    problems: tuple[ShownFault, ...]
    changes: tuple[ShownChange, ...]
    diff: ShownDiff | None
    lines: tuple[Line, ...]

    @property
    def summary(self) -> str:
        """How many faults it has; if none, how much it changes."""
        if self.draft.count:
            return format_count(self.draft.count, "fault")
        return describe_count(self.changes)

    @property
    def rows(self) -> list[ShownField]:
        groups = (*self.groups, *self.gates)
        return [*(row for each in groups for row in each.rows), *self.rules]


def build_editor(
    draft: Draft, in_force: Document, *, records: Mapping[str, str]
) -> Editor:
    """`in_force` is what it is compared with, `records` what rules have asked for."""
    document = draft.document
    changes = () if draft.count else list_changes(in_force, document)
    faults = _place_faults(draft, list_fields(document, tuple(records)))

    def show(each: Field) -> ShownField:
        refused = draft.refused.get(each.path)
        return ShownField(
            field=replace(each, text=refused.typed) if refused else each,
            fault=refused.why if refused else faults.get(each.path, ""),
            was=_describe_before(each, document, in_force),
            state=_describe_default(each, document),
            record=records.get(each.keys[-1], "") if each.keys[0] == "tools" else "",
        )

    def show_groups(groups: Sequence[FieldGroup]) -> tuple[ShownGroup, ...]:
        return tuple(
            ShownGroup(group=group, rows=tuple(map(show, group.fields)))
            for group in groups
        )

    return Editor(
        draft=draft,
        groups=show_groups(build_groups(document)),
        gates=show_groups(build_gate_groups(document)),
        rules=tuple(map(show, build_rule_fields(document, tuple(records)))),
        problems=_list_problems(draft, document, tuple(records)),
        changes=changes,
        diff=build_text_diff(in_force, document, name="policy") if changes else None,
        lines=_list_lines(draft, in_force),
    )


def _place_faults(draft: Draft, fields: Sequence[Field]) -> dict[str, str]:
    """All that is wrong, by the path of the field that it stands at."""
    placed: dict[str, list[str]] = {}
    for fault in draft.faults:
        found = _find_field(fault, fields)
        if found is not None:
            inside = fault.loc[len(found.keys) :]
            numbered = [str(key + 1 if isinstance(key, int) else key) for key in inside]
            bounds = _write_percent if found.kind == "share" else _write_bounds
            message = _BOUNDS.sub(bounds, fault.message)
            said = ": ".join([*numbered, message])
            placed.setdefault(found.path, []).append(said)
    return {path: "; ".join(said) for path, said in placed.items()}


def _write_percent(found: re.Match[str]) -> str:
    """Bounds of a share as its field has it."""
    low, high = (format(100 * float(bound), "g") for bound in found.groups())
    return f"from {low} to {high} %"


def _write_bounds(found: re.Match[str]) -> str:
    """A highest value that is only a guard says nothing to a person."""
    low, high = found.groups()
    return found[0] if float(high) < _ENDLESS else f"at least {low}"


def _find_field(fault: Fault, fields: Sequence[Field]) -> Field | None:
    keys = tuple(map(str, fault.loc))
    fitting = [each for each in fields if keys[: len(each.keys)] == each.keys]
    return max(fitting, key=lambda each: len(each.keys), default=None)


def _list_problems(
    draft: Draft, document: Document, rules: Sequence[str]
) -> tuple[ShownFault, ...]:
    fields = list_fields(document, rules)
    by_path = {each.path: each for each in fields}
    problems = [
        ShownFault(path=path, message=each.why, place="", target=by_path[path].id)
        for path, each in draft.refused.items()
        if path in by_path
    ]
    for fault in draft.faults:
        found = _find_field(fault, fields)
        line, column = fault.place or (1, 1)
        problems.append(
            ShownFault(
                path=".".join(map(str, fault.loc)),
                message=fault.message,
                place=f"line {line}, column {column}",
                target=found.id if found else f"line-{line}",
            )
        )
    return tuple(problems)


def _describe_before(each: Field, document: Document, in_force: Document) -> str:
    """What the setting is in the version in force, where the draft says otherwise."""
    default = _find_default(each)
    after, before = (read_value(of, each.keys) for of in (document, in_force))
    after, before = (default if v is ABSENT else v for v in (after, before))
    if after == before and type(after) is type(before):
        return ""
    if before is ABSENT:
        return "new"
    if isinstance(before, str) and len(before) > 24:
        return "changed"
    was = format_choice(before) if each.choices else before
    return f"{_read_duration(after, each)}was {format_value(was, each.schema_unit)}"


def _describe_default(each: Field, document: Document) -> str:
    value, default = read_value(document, each.keys), _find_default(each)
    if default is ABSENT:
        return ""
    word = "built in" if each.unset else "default"
    if value not in (ABSENT, default):
        return f"{_read_duration(value, each)}{word} {each.default}"
    shown = f" {each.default}" if each.unset else ""
    return f"{_read_duration(default, each)}{word}{shown}"


def _read_duration(value: Any, each: Field) -> str:
    """How long so many seconds are; empty for other settings."""
    if each.schema_unit not in ("s", "ms") or not isinstance(value, int | float):
        return ""
    return f"{format_value(value, each.schema_unit)}, "


def _find_default(each: Field) -> Any:
    built_in = find_built_in(each.keys)
    if built_in is not ABSENT:
        return built_in
    schema: Any = POLICY_SCHEMA
    for key in each.keys:
        named = schema.get("properties", {})
        inner = schema.get("additionalProperties")
        schema = named.get(key) or (inner if isinstance(inner, dict) else {})
    return schema.get("default", ABSENT)


def _list_lines(draft: Draft, in_force: Document) -> tuple[Line, ...]:
    """Line numbers, marked where a line is wrong or is not in the version in force."""
    typed = draft.text.split("\n")
    known = write_policy(in_force).split("\n")
    wrong: dict[int, list[str]] = {}
    for fault in draft.faults:
        line, column = fault.place or (1, 1)
        wrong.setdefault(line, []).append(f"column {column}: {fault.message}")
    matcher = difflib.SequenceMatcher(None, known, typed, autojunk=False)
    added: set[int] = set()
    for tag, _, _, first, last in matcher.get_opcodes():
        if tag != "equal":
            added.update(range(first + 1, last + 1))
    return tuple(
        Line(
            number=number,
            kind="wrong" if number in wrong else "added" if number in added else "",
            said="; ".join(wrong.get(number, ())),
        )
        for number in range(1, len(typed) + 1)
    )
