"""The gates of a call. A literal table: no discovery, no registration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from guidance.core.arguments import is_allowlisted
from guidance.core.edits import EditRefusal, describe_oversized
from guidance.core.tools.calls import CommandCall, ToolCall
from guidance.core.tools.destructive import check_destructive
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.families.check import check_families
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.section import ToolRules
from guidance.core.tools.texts import Text, find_name_spelled_twice, list_texts

Gate = Callable[[ToolRules, CallEvidence], Iterable[CallFinding]]


def check_arguments(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    problem = evidence.unreadable
    if problem is not None:
        yield CallFinding(
            gate="arguments",
            decision="block",
            message=(
                f"The arguments cannot be read: {problem.message} "
                f"(line {problem.line}, column {problem.column})"
            ),
            remediation="Send the arguments again as one whole JSON object.",
            details={
                "line": problem.line,
                "column": problem.column,
                "args_truncated": problem.truncated,
            },
        )
    if evidence.repairs:
        yield CallFinding(
            gate="arguments",
            decision="warn",
            message="The arguments were not quite JSON and were repaired",
            remediation="Run the call as it is shown here, not as it was written.",
            details={
                "args_repaired": [
                    {"line": r.line, "column": r.column, "what": r.what}
                    for r in evidence.repairs
                ]
            },
        )
    if evidence.is_bare_command:
        return
    if _has_two_commands(evidence):
        yield CallFinding(
            gate="arguments",
            decision="block",
            message="command and arguments.command are not the same",
            remediation="Send the command once, or the same text in both.",
        )
    tool = evidence.call.tool
    twice = find_name_spelled_twice(
        evidence.held, rules.shell.get_names(tool) | rules.sql.get_names(tool)
    )
    if twice is not None:
        yield CallFinding(
            gate="arguments",
            decision="block",
            message=f"The argument {twice} stands there in two spellings that differ",
            remediation="Send it once: nobody can tell which of them would be run.",
        )


def _has_two_commands(evidence: CallEvidence) -> bool:
    """One is shown and the other would be run, however its name is written."""
    call = evidence.call
    return isinstance(call, CommandCall) and any(
        part != call.command
        for name, _, part in evidence.held[0].parts  # the arguments themselves
        if name == "command"
    )


def check_against_schema(
    rules: ToolRules, evidence: CallEvidence
) -> Iterator[CallFinding]:
    """A schema speaks of arguments: edits have fields of their own instead."""
    known = rules.schemas.get(evidence.call.tool)
    has_arguments = isinstance(evidence.call, CommandCall | ToolCall)
    if known is None or not has_arguments or evidence.unreadable is not None:
        return
    for problem in known.schema.list_problems(evidence.arguments):
        where = problem.path or "the arguments"
        if problem.unchecked:
            yield CallFinding(
                gate="schema",
                decision="require-confirmation",
                message=f"The arguments were not checked: {problem.message}",
                remediation="Wait for the ruling, or send smaller arguments.",
                details={"uninspectable": True},
            )
            continue
        yield CallFinding(
            gate="schema",
            decision="block",
            message=f"{where}: {problem.message}",
            remediation=f"Follow the schema of {evidence.call.tool} in the policy.",
            details={"path": problem.path},
        )


def check_allowlist(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    if is_allowlisted(evidence.call.tool, rules.allowlist):
        return
    yield CallFinding(
        gate="allowlist",
        decision="block",
        message=f"The tool {evidence.call.tool} is not on the policy's allowlist",
        remediation="Use an allowed tool, or ask a manager to add this one.",
        details={"allowed": list(rules.allowlist or ())[:50]},
    )


def check_confirm(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    """A person is asked whatever the other gates say; no standing permission answers."""
    call = evidence.call
    pattern = rules.find_confirm_pattern(call.tool)
    if pattern is not None:
        yield CallFinding(
            gate="confirm",
            decision="require-confirmation",
            message=f"The policy asks a person about every call of {call.tool}",
            remediation="Wait for the ruling, or use another tool.",
            details={"by": "policy", "pattern": pattern},
        )
    if call.confirm:
        yield CallFinding(
            gate="confirm",
            decision="require-confirmation",
            message="The agent asks for a person to look at this call",
            details={"by": "agent"},
        )


def check_multi_edit(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    if not isinstance(evidence.plan, EditRefusal):
        return
    for problem in evidence.plan.problems:
        yield CallFinding(
            gate="multi_edit",
            decision="block",
            message=problem.message,
            remediation="Nothing was changed. Mend this edit and send all of them again.",
            details={
                "edit": problem.edit,
                "trouble": problem.trouble,
                "line": problem.line,
                "column": problem.column,
            },
        )


def check_diff_size(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    lines = evidence.changed_lines
    if lines is None:
        return
    message = describe_oversized(lines, limit=rules.max_diff_lines)
    if message is not None:
        yield CallFinding(
            gate="diff_size",
            decision="warn",
            message=message,
            remediation="Stage the change: smaller edits, each of them tested.",
            details={"diff_lines": lines, "limit": rules.max_diff_lines},
        )


def check_patterns(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    if not rules.patterns:
        return
    call = evidence.call
    for text in (Text("/tool", call.tool), *list_texts(call.to_fields())):
        for own in rules.patterns:
            for span in own.pattern.find(text.text, limit=1):
                yield CallFinding(
                    gate="patterns",
                    decision=own.decision,
                    message=own.message,
                    details={
                        "rule": own.name,
                        "argument": text.place,
                        "span": list(span),
                        "text": text.text[span.start : span.end],
                    },
                )


# Findings are listed in this order; which decision wins does not depend on it. The
# budget, which only a run has, stands between those two groups.
INPUT_GATES: dict[str, Gate] = {
    "arguments": check_arguments,
    "schema": check_against_schema,
}
ENFORCEMENT_GATES: dict[str, Gate] = {
    "destructive": check_destructive,
    "families": check_families,
    "allowlist": check_allowlist,
    "confirm": check_confirm,
    "diff_size": check_diff_size,
    "multi_edit": check_multi_edit,
    "patterns": check_patterns,
}
