"""A call as the gates look at it: arguments decoded, edits planned, once for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from guidance.core.arguments import (
    ArgumentProblem,
    Repair,
    is_allowlisted,
    read_arguments,
)
from guidance.core.edits import (
    EditPlan,
    EditRefusal,
    count_diff_lines,
    count_edited_lines,
    plan_edits,
)
from guidance.core.edits.plan import EFFORT_LIMIT
from guidance.core.effort import Effort
from guidance.core.jcs import read_as_stored
from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.own_server import USUAL_SERVER, OwnServer
from guidance.core.tools.calls import (
    Call,
    CommandCall,
    EditCall,
    MultiEditCall,
    ToolCall,
)
from guidance.core.tools.section import ToolRules
from guidance.core.tools.texts import Holder, list_holders


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEvidence:
    """`arguments` is empty where there are none, or where `unreadable` says why."""

    call: Call
    arguments: Mapping[str, Any]
    unreadable: ArgumentProblem | None = None
    repairs: tuple[Repair, ...] = ()
    plan: EditPlan | EditRefusal | None = None
    # The guard's own server.
    server: OwnServer = USUAL_SERVER
    # How much of what it may cost the planning of edits took, from 0 to 1.
    planning: float = 0.0
    # Counts down while its commands are read.
    reading: ReadingBudget = field(default_factory=ReadingBudget, compare=False)

    # What `held` was, once somebody has asked.
    _held: list[Sequence[Holder]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def held(self) -> Sequence[Holder]:
        """The objects in the arguments. Nobody asks for those of a bare command."""
        if not self._held:
            self._held.append(list_holders(self.arguments, "/arguments"))
        return self._held[0]

    @property
    def is_bare_command(self) -> bool:
        """A command with nothing beside it, as most calls are: it is asked for itself,
        not for what its arguments would say (bench: "a whole call")."""
        return isinstance(self.call, CommandCall) and self.call.arguments is None

    @property
    def changed_lines(self) -> int | None:
        """How many lines an edit puts in and takes out; None for other calls."""
        if isinstance(self.call, EditCall):
            return self.call.diff_lines
        if isinstance(self.plan, EditPlan):
            return self.plan.lines_added + self.plan.lines_removed
        if isinstance(self.call, MultiEditCall) and self.call.original is None:
            return sum(count_edited_lines(self.call.edits))
        return None

    @property
    def preview(self) -> dict[str, Any] | None:
        if not isinstance(self.plan, EditPlan):
            return None
        return {
            "diff": self.plan.diff,
            "result_sha256": self.plan.result_sha256,
            "matches": [match.to_json() for match in self.plan.matches],
        }


def build_call_evidence(call: Call, rules: ToolRules) -> CallEvidence:
    match call:
        case CommandCall(arguments=None):
            return CallEvidence(call=call, arguments={"command": call.command})
        case CommandCall():
            return CallEvidence(call=call, arguments=call.arguments or {})
        case ToolCall(arguments_json=str(text)):
            return _decode(call, text, rules)
        case ToolCall():
            return CallEvidence(call=call, arguments=call.arguments)
        case EditCall():
            if call.diff_lines is None:
                call = replace(call, diff_lines=count_diff_lines(call.content))
            return CallEvidence(call=call, arguments={})
        case MultiEditCall():
            if call.original is None:
                return CallEvidence(call=call, arguments={})
            effort = Effort(EFFORT_LIMIT)
            plan = plan_edits(
                call.original, call.edits, file_path=call.file_path, effort=effort
            )
            return CallEvidence(
                call=call, arguments={}, plan=plan, planning=effort.share
            )


def _decode(call: ToolCall, text: str, rules: ToolRules) -> CallEvidence:
    lenient = is_allowlisted(call.tool, rules.lenient_arguments)
    read = read_arguments(text, lenient=lenient)
    if isinstance(read, ArgumentProblem):
        return CallEvidence(call=call, arguments={}, unreadable=read)
    # From here on the call is what was read, not the text it was read from.
    values = read_as_stored(read.values)
    return CallEvidence(
        call=replace(call, arguments=values, arguments_json=None),
        arguments=values,
        repairs=read.repairs,
    )
