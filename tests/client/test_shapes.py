"""The client's answers have the fields and types of the published OpenAPI document."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from checkrail import answers
from checkrail.answers.parsing import Answer
from checkrail.flows import rulings
from checkrail.flows.step_queue import BatchAnswer
from checkrail.people import Page

from reviews.models import RULINGS, Kind
from tests.support.document import document, resolve

# Which class the client reads the answers of which operations as.
ANSWERS: dict[type[Answer], tuple[str, ...]] = {
    answers.CallAnswer: ("judge_tool_call",),
    answers.CallEvaluation: (
        *("evaluate_command", "evaluate_edit", "evaluate_multi_edit", "evaluate_tool"),
    ),
    answers.CallStanding: ("get_tool_call",),
    answers.Checkpoint: ("get_latest_checkpoint", "save_checkpoint"),
    answers.Claim: ("claim_tool_call",),
    answers.Decision: ("report_step",),
    answers.Evaluation: ("evaluate_continue",),
    answers.GateCheckState: ("get_gate_check", "open_gate_check"),
    answers.GateOutcome: ("give_verdict",),
    answers.Review: (
        *("ask_person", "claim_review", "comment_review", "release_review"),
        *("rule_review", "withdraw_review", "assign_review", "hand_over_review"),
        *("snooze_review", "submit_plan"),
    ),
    answers.ReviewDetail: ("get_review",),
    answers.Halt: ("begin_halt", "release_halt"),
    answers.ListedNote: ("read_agent_note", "write_agent_note"),
    answers.NoteList: ("list_agent_notes",),
    answers.PolicyVersion: ("get_policy_version",),
    answers.RunState: (
        *("abort_run", "finish_run", "get_run", "reopen_run", "start_run"),
        "revoke_allowance",
    ),
    answers.Settled: ("settle_tool_call",),
    answers.Standing: ("wait_for_decision",),
    answers.Turn: ("judge_turn",),
    answers.TurnEvaluation: ("evaluate_turn",),
    answers.Verification: ("get_verification",),
    answers.Violation: ("record_violation",),
    answers.VerdictReading: ("evaluate_verdict",),
    answers.LedgerEntry: ("get_ledger",),
    BatchAnswer: ("report_steps",),
    Page: ("list_reviews", "list_runs"),
}
# What the client adds to an answer: words for people, and what a person ruled.
OWN: dict[type[Answer], frozenset[str]] = {
    answers.Decision: frozenset({"ruling"}),
    answers.GateOutcome: frozenset({"ruling"}),
    answers.ReviewRef: frozenset({"title"}),
    answers.Turn: frozenset({"answer", "ruling"}),
}
OWN_WORDS = {"skipped"}
# A schema without a type, such as a ledger entry's payload, may be anything.
PLAIN = {
    str: {"string"},
    int: {"integer"},
    float: {"number", "integer"},
    bool: {"boolean"},
}


def find_schema(operation_id: str) -> dict[str, Any]:
    for methods in document()["paths"].values():
        for operation in methods.values():
            if operation["operationId"] == operation_id:
                # An approval that is not the last one is answered by the same.
                done, *_ = (
                    answer
                    for status, answer in operation["responses"].items()
                    if status < "300"
                )
                (content,) = done["content"].values()
                schema = resolve(content["schema"])
                return resolve(schema.get("contentSchema", schema))
    raise LookupError(operation_id)


def list_differences(
    kind: type[Answer], schemas: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """A field may be in the answers of some of the operations alone: then it has a
    default."""
    hints, own = get_type_hints(kind), OWN.get(kind, frozenset())
    parts = {part.name: part for part in fields(kind) if part.name != "raw"}
    documented = {name for schema in schemas for name in schema["properties"]}
    for name in sorted(documented - parts.keys()):
        yield f"{kind.__name__}.{name} is missing"
    for name, part in parts.items():
        place = f"{kind.__name__}.{name}"
        if (name in documented) == (name in own):
            yield f"{place} is not documented"
        for schema in schemas:
            if _is_needed(part) and name not in schema.get("required", ()):
                yield f"{place} is needed, but may be left out"
            if name in schema["properties"]:
                yield from compare(hints[name], schema["properties"][name], place)


def _is_needed(part: Field[Any]) -> bool:
    return part.default is MISSING and part.default_factory is MISSING


def compare(hint: Any, node: Mapping[str, Any], place: str) -> Iterator[str]:
    if hint is Any:
        return
    wanted, may_be_none = without_none(hint)
    options = [resolve(each) for each in node.get("anyOf", [node])]
    if any(each.get("type") == "null" for each in options) and not may_be_none:
        yield f"{place} may be null"
    for schema in options:
        if schema.get("type") != "null":
            yield from compare_value(wanted, schema, place)


def compare_value(wanted: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    origin, kind = get_origin(wanted), schema.get("type")
    if origin is Literal:
        words = {*schema.get("enum", [schema.get("const")])}
        if {*get_args(wanted)} - OWN_WORDS != words:
            yield f"{place} has other words: {sorted(words)}"
    elif origin is tuple:
        if kind != "array":
            yield f"{place} is no list: {schema}"
        else:
            yield from compare(get_args(wanted)[0], schema["items"], f"{place}[]")
    elif isinstance(wanted, type) and issubclass(wanted, Answer):
        yield from list_differences(wanted, [schema])
    elif kind not in PLAIN.get(wanted, {"object", None}):
        yield f"{place} is of another type: {schema}"


def without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    (wanted,) = (each for each in get_args(hint) if each is not type(None))
    return wanted, True


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.__name__)
def test_every_answer_is_as_documented(kind: type[Answer]) -> None:
    schemas = [find_schema(operation) for operation in ANSWERS[kind]]

    assert [*list_differences(kind, schemas)] == []


def test_every_class_of_answers_is_compared() -> None:
    compared = {*ANSWERS}
    waiting = [*ANSWERS]
    while waiting:
        for hint in get_type_hints(waiting.pop()).values():
            inner = {hint, *get_args(hint)}
            inner |= {part for each in inner for part in get_args(each)}
            new = {kind for kind in inner if is_answer(kind)} - compared
            compared |= new
            waiting += new

    every = {kind for kind in vars(answers).values() if is_answer(kind)}
    assert every <= compared


def is_answer(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Answer) and kind is not Answer


def test_an_agent_knows_what_people_may_choose() -> None:
    """But for the loop's actions and changes of policies: no agent waits for those."""
    unseen = {Kind.LOOP_ACTION, Kind.POLICY_CHANGE}
    assert {
        kind: set(actions) for kind, actions in RULINGS.items() if kind not in unseen
    } == rulings.RULINGS


@dataclass(frozen=True, kw_only=True)
class WrongReceipt(Answer):
    """One field too many, one too few, one of another type."""

    seq: str
    head: str = ""


@dataclass(frozen=True, kw_only=True)
class WrongTurn(Answer):
    score: int | None
    action: Literal["warn", "finish"]
    nudge: str
    receipt: WrongReceipt
    mood: str


def test_a_wrong_field_is_noticed() -> None:
    found = {*list_differences(WrongTurn, [find_schema("judge_turn")])}

    assert {
        "WrongReceipt.hash is missing",
        "WrongReceipt.head is not documented",
        "WrongTurn.mood is not documented",
        "WrongTurn.mood is needed, but may be left out",
        "WrongTurn.nudge may be null",
        "WrongTurn.signals is missing",
    } <= found
    for start in ("WrongReceipt.seq is of another type", "WrongTurn.action has other"):
        assert [fault for fault in found if fault.startswith(start)], start
