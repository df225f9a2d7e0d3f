"""Commands and SQL in a call, wherever they stand, read as a shell would."""

from __future__ import annotations

from collections.abc import Iterator

from guidance.core.commands import CommandFinding, judge_command, judge_sql
from guidance.core.tools.calls import CommandCall
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.rules import ToolRules
from guidance.core.tools.texts import Text, marked_texts

# So many texts, and characters of them, are judged in one call: more is nothing that a
# person reads either, and they are told so.
TEXTS_LIMIT = 200
CHARACTERS_LIMIT = 262_144


def destructive(rules: ToolRules, evidence: CallEvidence) -> list[CallFinding]:
    """A text that stands twice is judged once; word by word before all together."""
    judged: set[str] = set()
    told: set[str] = set()
    findings: list[CallFinding] = []
    characters = 0
    for text, is_sql in sorted(_code(rules, evidence), key=lambda item: item[0].joined):
        if text.text in judged:
            continue
        judged.add(text.text)
        characters += len(text.text)
        if len(judged) > TEXTS_LIMIT or characters > CHARACTERS_LIMIT:
            # First of all: those that come late are not told where there are many.
            return [_unread(text), *findings]
        for found in (judge_sql if is_sql else judge_command)(text.text):
            if not (text.joined and found.rule in told):
                told.add(found.rule)
                findings.append(_finding(found, text))
    return findings


def _code(rules: ToolRules, evidence: CallEvidence) -> Iterator[tuple[Text, bool]]:
    call = evidence.call
    if isinstance(call, CommandCall):
        yield Text("/command", call.command), False
    for marks, is_sql in ((rules.shell_arguments, False), (rules.sql_arguments, True)):
        for text in marked_texts(
            evidence.arguments, tool=call.tool, marks=marks, place="/arguments"
        ):
            yield text, is_sql


def _unread(text: Text) -> CallFinding:
    return CallFinding(
        gate="destructive",
        decision="require-confirmation",
        message="More commands than are read automatically: the rest was not read",
        remediation="Ask for fewer commands at once.",
        details={
            "rule": "opaque-size",
            "why": (
                f"At most {TEXTS_LIMIT} texts with {CHARACTERS_LIMIT:,} characters "
                "are judged in one call."
            ),
            "text": "",
            "argument": text.place,
            "span": None,
            "uninspectable": True,
        },
    )


def _finding(found: CommandFinding, text: Text) -> CallFinding:
    details: dict[str, object] = {
        "rule": found.rule,
        "why": found.why,
        "text": found.text,
        "argument": text.place,
        # A command given word by word has no one text that a span could count in.
        "span": None if text.joined else list(found.span),
    }
    if found.uninspectable:
        details["uninspectable"] = True
    return CallFinding(
        gate="destructive",
        decision="require-confirmation",
        message=found.message,
        remediation=found.safer,
        details=details,
    )
