"""A call that a framework wants to make, and what may come of asking about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from checkrail.answers import Ruling
from checkrail.flows.notes import take_notes
from checkrail.flows.reviewer_words import (
    encode_sorted,
    quote_agent_note,
    quote_note,
    take_untold,
)
from checkrail.flows.run_core import RunCore
from checkrail.transport.effects import Flow


@dataclass(frozen=True, kw_only=True)
class WantedCall:
    """A call before it runs; `id` is the framework's own, the same however often asked.

    `person`: somebody is asked even where the gates have nothing against it.
    `editable`: the framework can run other arguments than the model wrote.
    """

    id: str
    tool: str
    arguments_json: str
    description: str = ""
    person: bool = False
    editable: bool = True


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """Claimed: `arguments` may run now, once. A person may have changed them.

    `note` is for the model, beside the call's result.
    """

    call_id: str
    arguments: dict[str, Any]
    amended: bool
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A person changed the call, which the framework cannot do: the model has to."""

    arguments: dict[str, Any]
    ruling: Ruling

    @property
    def reason(self) -> str:
        reason = (
            f"Not run: {self.ruling.by} allows this call with other arguments only. To "
            f"make it, call again with exactly these: {encode_sorted(self.arguments)}."
        )
        return " ".join(filter(None, (reason, quote_note(self.ruling))))


@dataclass(frozen=True, kw_only=True)
class Refused:
    """It must not run; `reason` is for the model."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The policy calls the tool idempotent and has its result: nothing has to run."""

    output: Any

    @property
    def text(self) -> str:
        return (
            self.output if isinstance(self.output, str) else encode_sorted(self.output)
        )


Outcome = Admitted | Changed | Refused | Stored


def take_written_notes(run: RunCore) -> Flow[str]:
    """What people wrote when they let the run go on, and what they told the agent
    meanwhile, once: the next result tells it."""
    told = take_untold(run)
    notes = yield from take_notes(run)
    return "\n".join([*told, *map(quote_agent_note, notes)])
