"""The tools section of a policy document, read strictly."""

from __future__ import annotations

import re

from guidance.core.arguments import (
    SCHEMA_PATTERN_LIMIT,
    TOOL_PATTERN,
    PatternRefused,
    Schema,
    SchemaRefused,
    compile_pattern,
    find_pattern_problem,
    find_tool_problem,
    is_allowlisted,
)
from guidance.core.document_reader import Section
from guidance.core.regex import PATTERN_LIMIT
from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.first_look import read_first_look
from guidance.core.tools.section import (
    ALWAYS_ASKED,
    OwnPattern,
    ToolRules,
    ToolSchema,
)
from guidance.core.vocabulary import CALL_DECISIONS

_NAME_LIMIT = 64
_MESSAGE_LIMIT = 300
_LINES_LIMIT = 1_000_000
_DAY_S = 86_400
# One name, with more in it than dots and blanks.
_FOLDER = re.compile(r"[. ]*[^. /\\*?\[~$][^/\\*?\[~$]*")
_DECISIONS = ("block", "require-confirmation", "warn")


def read_tool_rules(section: Section) -> ToolRules:
    default = ToolRules()
    allowlist = section.read_part("allowlist")
    enabled = allowlist.read_flag("enabled", default=default.allowlist is not None)
    allowed = _read_tools(allowlist, "tools", ())
    allowlist.close()
    patterns = tuple(
        filter(None, map(_read_own_pattern, section.read_parts("patterns")))
    )
    names = {*RULES, *(pattern.name for pattern in patterns)}

    def unknown_rule(pattern: str) -> str | None:
        if any(is_allowlisted(name, [pattern]) for name in names):
            return None
        return "no rule has this name"

    rules = ToolRules(
        allowlist=allowed if enabled else None,
        max_diff_lines=section.read_integer(
            "max_diff_lines", default.max_diff_lines, low=0, high=_LINES_LIMIT
        ),
        lenient_arguments=_read_tools(
            section, "lenient_arguments", default.lenient_arguments
        ),
        idempotent=_read_tools(section, "idempotent", default.idempotent),
        shell_arguments=_read_marks(
            section, "shell_arguments", default.shell_arguments
        ),
        sql_arguments=_read_marks(section, "sql_arguments", default.sql_arguments),
        schemas=_read_schemas(section),
        patterns=patterns,
        always_ask=section.read_texts(
            "always_ask", default.always_ask, problem=unknown_rule
        ),
        rules=_read_decisions(section),
        disposable=section.read_texts(
            "disposable",
            default.disposable,
            problem=_find_folder_problem,
            pattern=_FOLDER.pattern,
        ),
        confirm=_read_tools(section, "confirm", default.confirm),
        grant_expires_s=section.read_integer(
            "grant_expires_s", default.grant_expires_s, low=1, high=_DAY_S
        ),
        first_look=read_first_look(
            section.read_part("first_look"), find_rule_problem=_find_rule_problem
        ),
    )
    section.close()
    return rules


def _read_decisions(section: Section) -> dict[str, str]:
    """What built-in rules lead to; own ones say so themselves."""
    decisions = {}
    given = section.read_choices("rules", among=CALL_DECISIONS)
    for name, decision in given.items():
        if not any(is_allowlisted(rule, [name]) for rule in RULES):
            section.refuse(f"rules.{name}", "no built-in rule has this name")
        elif name in ALWAYS_ASKED and decision in ("allow", "warn"):
            section.refuse(f"rules.{name}", "what touches the guard is always asked")
        else:
            decisions[name] = decision
    return decisions


def _read_tools(
    section: Section, name: str, default: tuple[str, ...]
) -> tuple[str, ...]:
    """Names of tools, or the beginnings of names and a star."""
    return section.read_texts(
        name, default, problem=find_pattern_problem, pattern=TOOL_PATTERN
    )


def _read_marks(
    section: Section, name: str, default: tuple[str, ...]
) -> tuple[str, ...]:
    """Arguments of tools, such as Bash.command."""
    form = rf"(?:{TOOL_PATTERN})\.[^.]+"
    return section.read_texts(name, default, problem=_find_mark_problem, pattern=form)


def _find_rule_problem(pattern: str) -> str | None:
    """Why a model could not answer this rule; None if it could."""
    named = [rule for rule in RULES if is_allowlisted(rule, [pattern])]
    if not named:
        return "no built-in rule has this name"
    if all(rule in ALWAYS_ASKED for rule in named):
        return "what touches the guard is always asked"
    return None


def _find_folder_problem(name: str) -> str | None:
    """Why it is not the name of one folder, None if it is."""
    if not _FOLDER.fullmatch(name):
        return "must be the name of a folder, such as node_modules"
    return None


def _find_mark_problem(mark: str) -> str | None:
    """Why a mark such as Bash.command names no argument, None if it does."""
    tool, dot, argument = mark.rpartition(".")
    if not dot or not argument:
        return "must be tool.argument, such as Bash.command or *.sql"
    return find_pattern_problem(tool)


def _read_own_pattern(section: Section) -> OwnPattern | None:
    """None where it cannot be searched for; that is noted as a problem."""
    name = section.read_text("name", most=_NAME_LIMIT)
    text = section.read_text("pattern", most=PATTERN_LIMIT)
    decision = section.read_choice("decision", "require-confirmation", among=_DECISIONS)
    message = section.read_text("message", most=_MESSAGE_LIMIT)
    section.close()
    if section.is_valid("name") and name in RULES:
        section.refuse("name", "a built-in rule has this name")
    try:
        pattern = compile_pattern(text)
    except PatternRefused as refused:
        if section.is_valid("pattern"):
            section.refuse("pattern", str(refused))
        return None
    return OwnPattern(
        name=name, text=text, decision=decision, message=message, pattern=pattern
    )


def _read_schemas(section: Section) -> dict[str, ToolSchema]:
    schemas: dict[str, ToolSchema] = {}
    for tool, document in section.read_objects("schemas").items():
        if sum(s.schema.pattern_size for s in schemas.values()) > SCHEMA_PATTERN_LIMIT:
            section.refuse("schemas", "the patterns of all schemas are too large")
            break
        why = find_tool_problem(tool)
        if why is not None:
            section.refuse(f"schemas.{tool}", why)
            continue
        try:
            schemas[tool] = ToolSchema(document=document, schema=Schema(document))
        except SchemaRefused as refused:
            section.refuse(f"schemas.{tool}", str(refused))
    return schemas
