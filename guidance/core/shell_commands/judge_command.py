"""From a text to its findings: the doors that others knock at."""

from __future__ import annotations

import re
from collections.abc import Callable

from guidance.core.regex import either
from guidance.core.shell_commands.characters import SUSPECT, deceiving
from guidance.core.shell_commands.findings import CommandFinding, Part
from guidance.core.shell_commands.judge_program import judge
from guidance.core.shell_commands.limits import (
    MAX_CHARACTERS,
    Budget,
    EnoughError,
    TooMuchError,
)
from guidance.core.shell_commands.origin import top
from guidance.core.shell_commands.program_table import HANDLERS, MATTERS
from guidance.core.shell_commands.report import Report
from guidance.core.shell_commands.unwrap.redirections import redirected
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.windows.shells import SMELLS, smells, windows

# A text that is SQL from its first word on. Shell words such as set, exec and do are
# left out, and ambiguous ones must be followed by what SQL wants there.
_SQL = re.compile(
    r"(?:\s++|--[^\n]*+\n|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
    r"(?:(?:select|insert|update|delete|drop|truncate|alter|merge|explain|grant|revoke"
    r"|replace)\b|create\s+(?:or\s|table|temp|view|index|database|schema|function|user)"
    r"|with\s+[\w\"]+\s+as\b|begin\s*(?:;|transaction|work)|start\s+transaction"
    r"|use\s+\w+\s*;|do\s+\$\w*\$)",
    re.IGNORECASE,
)
# What most texts do not have, told by reading them once.
_ODD = either(SUSPECT, SMELLS)


def judge_command(
    command: str, *, budget: Budget | None = None
) -> tuple[CommandFinding, ...]:
    """What a person should know before this runs; nothing if it is harmless.

    Texts that are read for one answer may share a budget.
    """
    return _report(command, _command, budget=budget).findings


def judge_sql(text: str, *, budget: Budget | None = None) -> tuple[CommandFinding, ...]:
    """The same for a text that is known to be SQL."""
    return _report(text, _sql, budget=budget).findings


def split_command(command: str) -> tuple[Part, ...]:
    """The simple commands in it, in the order they are met."""
    return _report(command, _command, collect=True).parts


def _report(
    text: str,
    read: Callable[[Walk, str], None],
    *,
    collect: bool = False,
    budget: Budget | None = None,
) -> Report:
    report = Report(text, collect=collect)
    if len(text) > MAX_CHARACTERS:
        report.too_much()
        return report
    walk = Walk(
        report,
        Budget() if budget is None else budget,
        handlers=HANDLERS,
        matters=MATTERS,
        redirected=redirected,
        judge=judge,
    )
    try:
        read(walk, text)
    except EnoughError:
        pass
    except (TooMuchError, RecursionError):
        # Trouble never lets through: what was found stands, the rest is for a person.
        report.too_much()
    return report


def _command(walk: Walk, text: str) -> None:
    odd = not text.isascii() or _ODD.search(text.encode()) is not None
    strange = deceiving(text) if odd else None
    if strange is not None:
        walk.report.at("opaque-characters", strange.span(), uninspectable=True)
        # What marks the unknown must not come from outside.
        text = text.replace("\0", "\ufffd")
    origin = top(text)
    walk.shell(text, origin=origin, via=())
    walk.finish()
    if _SQL.match(text):
        walk.report.forget_broken()
        walk.sql(text, origin=origin, via=())
    if odd and smells(text):
        windows(walk, text, origin=origin, via=())


def _sql(walk: Walk, text: str) -> None:
    text = text.replace("\0", "\ufffd")
    walk.sql(text, origin=top(text), via=())
