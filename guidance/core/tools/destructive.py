"""What a call destroys: by its tool, and by the commands and SQL that stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from guidance.core.shell_commands import (
    CommandFinding,
    is_plain,
    judge_code,
    judge_command,
    judge_sql,
)
from guidance.core.shell_commands.limits import (
    MAX_COMMANDS,
    MAX_READ,
    ReadingBudget,
)
from guidance.core.shell_commands.own_server import OwnServer
from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.calls import CommandCall
from guidance.core.tools.code_arguments import (
    SHELL,
    SQL,
    Code,
    list_program_arguments,
    looks_up_words,
    split_code,
)
from guidance.core.tools.destroying.tool_names import check_tool
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.section import ToolRules
from guidance.core.tools.texts import Holder, Text, list_marked_texts

# So many texts are judged in one call, and together no more than one command may be:
# more is nothing that a person reads either, and they are told so.
TEXTS_LIMIT = 200


def check_destructive(rules: ToolRules, evidence: CallEvidence) -> list[CallFinding]:
    """A text that stands twice is judged once; word by word before all together."""
    judged: set[tuple[str, str]] = set()
    told: set[str] = set()
    findings: list[CallFinding] = []
    findings += check_tool(rules, evidence)
    budget = evidence.reading
    alone = _find_lone_command(rules, evidence)
    if alone is not None and is_plain(alone, server=evidence.server):
        # Nothing else is read that would share its budget.
        return findings
    for text, language in _put_joined_last(_list_code(rules, evidence)):
        if (text.text, language) in judged:
            continue
        if len(judged) == TEXTS_LIMIT or budget.spent:
            # First of all: those that come late are not told where there are many.
            return [_make_unread_finding(text), *findings]
        judged.add((text.text, language))
        for found in _judge(
            rules, text.text, budget, language=language, server=evidence.server
        ):
            decision = rules.decide(found.rule, default=found.decision)
            if decision != "allow" and not (text.joined and found.rule in told):
                told.add(found.rule)
                findings.append(_make_finding(found, text, decision))
    return findings


def _judge(
    rules: ToolRules,
    text: str,
    budget: ReadingBudget,
    *,
    language: str,
    server: OwnServer,
) -> tuple[CommandFinding, ...]:
    if language == SHELL:
        return judge_command(
            text,
            budget=budget,
            disposable=rules.disposable_names,
            server=server,
        )
    if language == SQL:
        return judge_sql(text, budget=budget)
    return judge_code(text, language=language, budget=budget, server=server)


def _put_joined_last(code: Iterable[Code]) -> Iterator[Code]:
    joined = []
    for each in code:
        if each.text.joined:
            joined.append(each)
        else:
            yield each
    yield from joined


def _find_lone_command(rules: ToolRules, evidence: CallEvidence) -> str | None:
    """The command, where it is a shell's and all that there is to read."""
    call = evidence.call
    if not isinstance(call, CommandCall) or call.arguments is not None:
        return None
    return None if "command" in rules.sql.get_names(call.tool) else call.command


def _list_code(rules: ToolRules, evidence: CallEvidence) -> Iterator[Code]:
    call = evidence.call
    alone = _find_lone_command(rules, evidence)
    if alone is not None:
        yield Code(Text("/command", alone), SHELL)
        return
    shell, sql = rules.shell.get_names(call.tool), rules.sql.get_names(call.tool)
    interpreted, held = split_code(call.tool, evidence.held)
    yield from interpreted
    if looks_up_words(call.tool):
        # Words that a search engine looks for, whatever they say.
        sql = frozenset()
    for text in list_program_arguments(call.tool, held):
        yield Code(text, SHELL)
    if isinstance(call, CommandCall):
        yield Code(Text("/command", call.command), SHELL)
        # Whatever the policy marks, this is a command, and its arguments may complete it.
        shell |= {"command"}
        held = _add_command(call.command, held)
    for names, language in ((shell, SHELL), (sql, SQL)):
        for text in list_marked_texts(held, names):
            yield Code(text, language)


def _add_command(command: str, held: Sequence[Holder]) -> Sequence[Holder]:
    """The command among its arguments, where they do not hold one themselves."""
    outermost = held[0]
    if any(name == "command" for name, _, _ in outermost.parts):
        return held
    parts = [("command", "command", command), *outermost.parts]
    return [outermost._replace(parts=parts), *held[1:]]


def _make_unread_finding(text: Text) -> CallFinding:
    return CallFinding(
        gate="destructive",
        decision="require-confirmation",
        message="More commands than are read automatically: the rest was not read",
        remediation="Ask for fewer commands at once.",
        details={
            "rule": "opaque-size",
            "severity": RULES["opaque-size"].severity,
            "why": (
                f"At most {TEXTS_LIMIT} texts with {MAX_COMMANDS:,} commands and "
                f"{MAX_READ:,} characters are judged in one call."
            ),
            "text": "",
            "argument": text.place,
            "span": None,
            "uninspectable": True,
        },
    )


def _make_finding(found: CommandFinding, text: Text, decision: str) -> CallFinding:
    details: dict[str, object] = {
        "rule": found.rule,
        "severity": found.severity,
        "why": found.why,
        "text": found.text,
        "argument": text.place,
        # A command given word by word has no one text that a span could count in.
        "span": None if text.joined else list(found.span),
    }
    if found.target:
        details["target"] = found.target
    if found.uninspectable:
        details["uninspectable"] = True
    return CallFinding(
        gate=found.family,
        decision=decision,
        message=found.message,
        remediation=found.safer,
        details=details,
    )
