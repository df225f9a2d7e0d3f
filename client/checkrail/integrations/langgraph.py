"""LangGraph: interrupted graphs wait for Checkrail, and resume in their own dialect.

A graph that interrupts wants a person to look, so a person is asked, also where the
gates have nothing against the call; with `gates_decide=True` it is left to the gates.
Asked twice about the same interrupt, the answer is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph.pregel import Pregel
from langgraph.pregel.protocol import PregelProtocol
from langgraph.types import Command

from checkrail.errors import ProtocolError, Ungoverned
from checkrail.flows.reviewer_words import quote_note
from checkrail.flows.rulings import get_deadline
from checkrail.flows.run_core import RunCore
from checkrail.integrations.admission import admit, ask_person, hand_over
from checkrail.integrations.drivers import drive_async, drive_now
from checkrail.integrations.interrupts import (
    Answer,
    AskedCall,
    Interruption,
    UnknownInterrupt,
    build_answer,
    build_response,
    parse_interrupt,
)
from checkrail.integrations.langchain_gate import Gate, guard_tools
from checkrail.integrations.outcomes import WantedCall
from checkrail.transport.effects import Callback, Flow

Otherwise = Callable[[Any], Any] | None


def find_interrupts(result: object) -> list[Any]:
    """The pending interrupts of a result (of any version), a state, or a JSON answer."""
    if isinstance(result, Mapping):
        return list(result.get("__interrupt__") or ())
    return list(getattr(result, "interrupts", ()))


def resolve_interrupts(
    result: object,
    run: RunCore,
    *,
    gates_decide: bool = False,
    otherwise: Otherwise = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    """What to resume the graph with, by the id of each interrupt: `Command(resume=…)`.

    `otherwise` answers interrupts that speak no known dialect; without it they raise
    UnknownInterrupt. Raises StillWaiting when nobody ruled within `timeout`.
    """
    flow = _resolve(find_interrupts(result), run, gates_decide, otherwise, timeout)
    return drive_now(run, flow)


async def aresolve_interrupts(
    result: object,
    run: RunCore,
    *,
    gates_decide: bool = False,
    otherwise: Otherwise = None,
    timeout: float | None = None,
) -> dict[str, Any]:
    flow = _resolve(find_interrupts(result), run, gates_decide, otherwise, timeout)
    return await drive_async(run, flow)


def drive(
    graph: Any,
    input: object,
    config: Any,
    run: RunCore,
    *,
    gates_decide: bool = False,
    otherwise: Otherwise = None,
    timeout: float | None = None,
    **options: Any,
) -> Any:
    """`graph.invoke` to its end, with every interrupt put to Checkrail on the way.

    Tools that start without an interrupt are put to the gates as well; what is refused
    raises NotRun. After StillWaiting, or in another process: `drive(graph, None, config,
    run)` goes on.
    """
    gate = _build_gate(graph, run, timeout)
    with guard_tools(gate):
        result = graph.invoke(input, config, **options)
    while find_interrupts(result):
        answers = resolve_interrupts(
            result,
            run,
            gates_decide=gates_decide,
            otherwise=otherwise,
            timeout=timeout,
        )
        with guard_tools(gate):
            result = graph.invoke(
                Command(resume=_take_first(answers)), config, **options
            )
    return result


async def adrive(
    graph: Any,
    input: object,
    config: Any,
    run: RunCore,
    *,
    gates_decide: bool = False,
    otherwise: Otherwise = None,
    timeout: float | None = None,
    **options: Any,
) -> Any:
    """As `drive`, with `graph.ainvoke`."""
    gate = _build_gate(graph, run, timeout)
    with guard_tools(gate):
        result = await graph.ainvoke(input, config, **options)
    while find_interrupts(result):
        answers = await aresolve_interrupts(
            result,
            run,
            gates_decide=gates_decide,
            otherwise=otherwise,
            timeout=timeout,
        )
        with guard_tools(gate):
            result = await graph.ainvoke(
                Command(resume=_take_first(answers)), config, **options
            )
    return result


def _build_gate(graph: Any, run: RunCore, timeout: float | None) -> Gate:
    if isinstance(graph, PregelProtocol) and not isinstance(graph, Pregel):
        why = (
            "It runs in another process, where no tool can be held from here: govern it "
            "there, and answer its interrupts with resolve_interrupts."
        )
        raise Ungoverned([type(graph).__name__], why, by_choice=False)
    return Gate(run, timeout=timeout)


def _take_first(answers: dict[str, Any]) -> dict[str, Any]:
    """All of them, unless one is an edit that the tool may refuse: that goes alone.

    LangGraph checks such an answer only while it resumes; calls that were resumed along
    with it would then run twice.
    """
    for known, answer in answers.items():
        if isinstance(answer, dict) and "edited_action" in answer:
            return {known: answer}
    return answers


def _resolve(
    interrupts: Iterable[Any],
    run: RunCore,
    gates_decide: bool,
    otherwise: Otherwise,
    timeout: float | None,
) -> Flow[dict[str, Any]]:
    answers: dict[str, Any] = {}
    read: dict[str, Interruption] = {}
    for interrupt in interrupts:
        known, value, schema = _get_parts(interrupt)
        try:
            read[known] = parse_interrupt(value, schema)
        except UnknownInterrupt:
            if otherwise is None:
                raise
            answers[known] = yield Callback(otherwise, interrupt)
    wanted = {
        (known, index): _build_call(f"{known}:{index}", asked, gates_decide)
        for known, interruption in read.items()
        for index, asked in enumerate(interruption.asked)
        if not asked.is_question
    }
    outcomes = yield from admit(run, list(wanted.values()), timeout=timeout)
    decided = dict(zip(wanted, outcomes, strict=True))
    for place, call in wanted.items():
        hand_over(run, call, decided[place])
    until = get_deadline(run, timeout)
    for known, interruption in read.items():
        each: list[Answer] = []
        for index, asked in enumerate(interruption.asked):
            if asked.is_question:
                each.append(
                    (yield from _ask_question(run, f"{known}:{index}", asked, until))
                )
            else:
                each.append(build_answer(asked, decided[known, index]))
        answers[known] = interruption.resume(each)
    return answers


def _build_call(known: str, asked: AskedCall, gates_decide: bool) -> WantedCall:
    return WantedCall(
        id=known,
        tool=asked.tool,
        arguments_json=asked.arguments_json,
        description=asked.description,
        person=not gates_decide,
        editable="edit" in asked.may,
    )


def _ask_question(
    run: RunCore, known: str, asked: AskedCall, until: float
) -> Flow[Answer]:
    question = asked.arguments.get("question")
    _, ruling = yield from ask_person(
        run,
        "question",
        known,
        title=question if isinstance(question, str) and question else asked.tool,
        detail=f"{asked.description}\n\n{asked.arguments_json}".strip(),
        until=until,
    )
    if ruling.answer is None:
        raise ProtocolError("The question was ruled on, but no answer came.")
    parts = (ruling.answer, quote_note(ruling))
    return build_response(asked, "\n\n".join(filter(None, parts)))


def _get_parts(interrupt: Any) -> tuple[str, Any, Any]:
    """An Interrupt, or what stands for one in the answers of LangGraph's server."""
    if isinstance(interrupt, Mapping):
        return interrupt["id"], interrupt["value"], interrupt.get("response_schema")
    schema = getattr(interrupt, "response_schema", None)
    return interrupt.id, interrupt.value, schema
