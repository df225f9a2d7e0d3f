"""What graphs ask people, read from both dialects, and the answers written in them.

Agent Inbox: `HumanInterrupt` → a list of `HumanResponse` (accept, ignore, response,
edit). LangChain's middleware: `HITLRequest` → `{"decisions": […]}`, or one
`tool_approval` for each call → one decision (approve, edit, reject, respond).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checkrail.errors import CheckrailError
from checkrail.flows.reviewer_words import encode_sorted
from checkrail.integrations.outcomes import Admitted, Outcome, Stored

Answer = dict[str, Any]


class UnknownInterrupt(CheckrailError):
    """The graph asks in no dialect that is known: only its author can answer it."""


class CannotAnswer(CheckrailError):
    """The graph does not accept the answer that was given: it must not go on."""


@dataclass(frozen=True, kw_only=True)
class AskedCall:
    """One thing that a graph asks about; `may` in the words of the middleware."""

    tool: str
    arguments: Mapping[str, Any]
    description: str
    may: frozenset[str]
    inbox: bool = False

    @property
    def arguments_json(self) -> str:
        try:
            return encode_sorted(self.arguments)
        except (TypeError, ValueError) as trouble:
            raise UnknownInterrupt(
                f"The arguments of {self.tool} are no JSON: {trouble}."
            ) from None

    @property
    def is_question(self) -> bool:
        """Nothing is to run: a person's words are the result of the tool."""
        return "respond" in self.may and not self.may & {"approve", "edit"}


@dataclass(frozen=True, kw_only=True)
class Interruption:
    """All that one interrupt asks, and how its answers go back together."""

    asked: Sequence[AskedCall]
    resume: Callable[[list[Answer]], Any]


def parse_interrupt(value: object, response_schema: object = None) -> Interruption:
    if isinstance(value, Mapping):
        if value.get("type") == "tool_approval":
            asked = _parse_tool_approval(value, response_schema)
            return Interruption(asked=[asked], resume=lambda answers: answers[0])
        if "action_requests" in value:
            return Interruption(
                asked=_parse_hitl_request(value),
                resume=lambda answers: {"decisions": answers},
            )
    # One or several, the answer is a list.
    items = [value] if isinstance(value, Mapping) else value
    if isinstance(items, (list, tuple)) and items:
        return Interruption(
            asked=[_parse_human_interrupt(item) for item in items], resume=list
        )
    raise _build_unknown(value)


def _parse_human_interrupt(value: object) -> AskedCall:
    try:
        action, config = value["action_request"], value.get("config") or {}  # type: ignore[index, attr-defined]
        words = {
            "approve": "allow_accept",
            "edit": "allow_edit",
            "reject": "allow_ignore",
            "respond": "allow_respond",
        }
        return AskedCall(
            tool=action["action"],
            arguments=action["args"],
            description=value.get("description") or "",  # type: ignore[attr-defined]
            may=frozenset(word for word, name in words.items() if config.get(name)),
            inbox=True,
        )
    except (AttributeError, KeyError, TypeError):
        raise _build_unknown(value) from None


def _parse_hitl_request(value: Mapping[str, Any]) -> list[AskedCall]:
    try:
        return [
            AskedCall(
                tool=action["name"],
                arguments=action["args"],
                description=action.get("description") or "",
                may=frozenset(config["allowed_decisions"]),
            )
            for action, config in zip(
                value["action_requests"], value["review_configs"], strict=True
            )
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _build_unknown(value) from None


def _parse_tool_approval(
    value: Mapping[str, Any], response_schema: object
) -> AskedCall:
    try:
        return AskedCall(
            tool=value["name"],
            arguments=value["args"],
            description=value.get("description") or "",
            may=frozenset(
                _list_decision_types(response_schema) or {"approve", "reject"}
            ),
        )
    except KeyError:
        raise _build_unknown(value) from None


def _list_decision_types(schema: object) -> set[str]:
    """The words that a JSON schema of decisions accepts as their `type`."""
    found: set[str] = set()
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        kind = properties.get("type") if isinstance(properties, Mapping) else None
        if isinstance(kind, Mapping) and isinstance(kind.get("const"), str):
            found.add(kind["const"])
        for part in ("$defs", "oneOf", "anyOf"):
            inner = schema.get(part)
            for each in inner.values() if isinstance(inner, Mapping) else inner or ():
                found |= _list_decision_types(each)
    return found & {"approve", "edit", "reject", "respond"}


def build_answer(asked: AskedCall, outcome: Outcome) -> Answer:
    """The outcome in the graph's own dialect, or CannotAnswer."""
    if isinstance(outcome, Admitted):
        if "approve" in asked.may and not outcome.amended:
            return _build_accept(asked)
        if "edit" in asked.may:
            return _build_edit(asked, outcome.arguments)
        raise CannotAnswer(
            f"{asked.tool} was allowed, but the graph accepts no approval."
        )
    if isinstance(outcome, Stored):
        if "respond" in asked.may:
            return build_response(asked, outcome.text)
        return _build_reject(
            asked, f"Not run again: its result is known. {outcome.text}"
        )
    return _build_reject(asked, outcome.reason)


def _build_accept(asked: AskedCall) -> Answer:
    return {"type": "accept", "args": None} if asked.inbox else {"type": "approve"}


def _build_edit(asked: AskedCall, arguments: dict[str, Any]) -> Answer:
    if asked.inbox:
        return {"type": "edit", "args": {"action": asked.tool, "args": arguments}}
    return {"type": "edit", "edited_action": {"name": asked.tool, "args": arguments}}


def build_response(asked: AskedCall, text: str) -> Answer:
    if asked.inbox:
        return {"type": "response", "args": text}
    return {"type": "respond", "message": text}


def _build_reject(asked: AskedCall, reason: str) -> Answer:
    """`respond` would count as success of the tool: it never stands for a no there."""
    if asked.inbox and "reject" in asked.may:
        return {"type": "ignore", "args": None}
    if asked.inbox and "respond" in asked.may:
        return {"type": "response", "args": reason}
    if not asked.inbox and "reject" in asked.may:
        return {"type": "reject", "message": reason}
    raise CannotAnswer(
        f"{asked.tool} may not run, but the graph accepts no such answer: allow "
        f"{'`allow_ignore`' if asked.inbox else '`reject`'}. {reason}"
    )


def _build_unknown(value: object) -> UnknownInterrupt:
    shown = repr(value)
    return UnknownInterrupt(
        f"This interrupt is neither a HumanInterrupt, a HITLRequest nor a tool_approval: "
        f"{shown if len(shown) <= 200 else shown[:200] + '…'}. Answer it with `otherwise`."
    )
