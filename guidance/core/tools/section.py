"""What a policy says about tools: which are known, which texts are read, what is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from guidance.core.arguments import (
    SCHEMA_PATTERN_LIMIT,
    TOOL_PATTERN,
    Pattern,
    PatternRefused,
    Schema,
    SchemaRefused,
    compile_pattern,
    find_pattern_problem,
    find_tool_problem,
    is_allowlisted,
)
from guidance.core.document_reader import Section
from guidance.core.edits.changes import DIFF_LIMIT
from guidance.core.regex import PATTERN_LIMIT
from guidance.core.settings import Known, Words, declare, part, texts, whole
from guidance.core.shell_commands.paths import DISPOSABLE
from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.first_look import ALWAYS_ASKED, FirstLook
from guidance.core.tools.marked_arguments import Marks
from guidance.core.vocabulary import CALL_DECISIONS, choose_most_severe_call

_NAME_LIMIT = 64
_MESSAGE_LIMIT = 300
_DAY_S = 86_400
# One name, with more in it than dots and blanks.
_FOLDER = re.compile(r"[. ]*[^. /\\*?\[~$][^/\\*?\[~$]*")
_DECISIONS = ("block", "require-confirmation", "warn")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPattern:
    """A rule that people wrote themselves, searched for in every text of a call."""

    name: str
    text: str
    decision: str
    message: str
    pattern: Pattern = field(compare=False)

    def to_json(self) -> dict[str, str]:
        return {
            "name": self.name,
            "pattern": self.text,
            "decision": self.decision,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """A schema as it was written, and ready to check by."""

    document: Mapping[str, Any]
    schema: Schema = field(compare=False)


def _declare_tools(label: str, text: str) -> Any:
    """Names of tools, or the beginnings of names and a star."""
    return texts((), label, text, problem=find_pattern_problem, pattern=TOOL_PATTERN)


def _declare_marks(default: tuple[str, ...], label: str, text: str) -> Any:
    """Arguments of tools, such as Bash.command."""
    form = rf"(?:{TOOL_PATTERN})\.[^.]+"
    return texts(default, label, text, problem=_find_mark_problem, pattern=form)


def _read_allowlist(
    section: Section, key: str, _usual: object, _known: Known
) -> tuple[str, ...] | None:
    allowlist = section.read_part(key)
    enabled = allowlist.read_flag("enabled", default=False)
    allowed = allowlist.read_texts(
        "tools", (), problem=find_pattern_problem, pattern=TOOL_PATTERN
    )
    allowlist.close()
    return allowed if enabled else None


def _read_patterns(
    section: Section, key: str, _usual: object, _known: Known
) -> tuple[OwnPattern, ...]:
    return tuple(filter(None, map(_read_own_pattern, section.read_parts(key))))


def _read_always_ask(
    section: Section, key: str, usual: tuple[str, ...], known: Known
) -> tuple[str, ...]:
    names = {*RULES, *(pattern.name for pattern in known["patterns"])}

    def find_problem(pattern: str) -> str | None:
        if any(is_allowlisted(name, [pattern]) for name in names):
            return None
        return "no rule has this name"

    return section.read_texts(key, usual, problem=find_problem)


def _read_decisions(
    section: Section, key: str, _usual: object, _known: Known
) -> dict[str, str]:
    """Read decisions for built-in rules; own ones say theirs themselves."""
    decisions = {}
    given = section.read_choices(key, among=CALL_DECISIONS)
    for name, decision in given.items():
        if not any(is_allowlisted(rule, [name]) for rule in RULES):
            section.refuse(f"{key}.{name}", "no built-in rule has this name")
        elif name in ALWAYS_ASKED and decision in ("allow", "warn"):
            section.refuse(f"{key}.{name}", "what touches the guard is always asked")
        else:
            decisions[name] = decision
    return decisions


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


def _read_schemas(
    section: Section, key: str, _usual: object, _known: Known
) -> dict[str, ToolSchema]:
    schemas: dict[str, ToolSchema] = {}
    for tool, document in section.read_objects(key).items():
        if sum(s.schema.pattern_size for s in schemas.values()) > SCHEMA_PATTERN_LIMIT:
            section.refuse(key, "the patterns of all schemas are too large")
            break
        why = find_tool_problem(tool)
        if why is not None:
            section.refuse(f"{key}.{tool}", why)
            continue
        try:
            schemas[tool] = ToolSchema(document=document, schema=Schema(document))
        except SchemaRefused as refused:
            section.refuse(f"{key}.{tool}", str(refused))
    return schemas


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """`allowlist` None is off; an empty one allows nothing.

    `shell_arguments` and `sql_arguments` name texts to be read as commands or SQL:
    `tool.argument`, with a star for any tool, at any depth of the arguments. Neither
    case nor blanks, dashes and underscores count in them. `shell` and `sql` are the
    same, ready to be asked.

    `rules` maps rules, or the beginning of their names and a star, to decisions.
    `disposable` are names of folders that tools make again. `confirm` are tools that
    always need a person, by name or its beginning and a star. `first_look` is what a
    model may answer before a person is asked.
    """

    allowlist: tuple[str, ...] | None = declare(
        None,
        "Allowlist",
        "The only tools that may be called.",
        read=_read_allowlist,
        inside={
            "enabled": Words(
                "In use", "Off: every tool may be called. On and empty: none may."
            ),
            "tools": Words(
                "Tools", "By name, or its beginning and a star: mcp__git__*."
            ),
        },
    )
    patterns: tuple[OwnPattern, ...] = declare(
        (),
        "Own rules",
        "Texts that calls are searched for.",
        read=_read_patterns,
        inside={
            "*.name": Words("Name", "No built-in rule may have it."),
            "*.pattern": Words("Pattern", "A regular expression (RE2)."),
            "*.decision": Words("Decision", "What a call with it leads to."),
            "*.message": Words("Message", "What the agent and people read."),
        },
    )
    max_diff_lines: int = whole(
        DIFF_LIMIT,
        "Large edits",
        "Edits with more are noted.",
        low=0,
        high=1_000_000,
        unit="lines",
    )
    lenient_arguments: tuple[str, ...] = _declare_tools(
        "Repaired arguments",
        "Tools whose arguments may be repaired where they are not quite JSON.",
    )
    idempotent: tuple[str, ...] = _declare_tools(
        "Answered again", "Tools whose stored result may answer the same call again."
    )
    shell_arguments: tuple[str, ...] = _declare_marks(
        (
            "*.command",
            "*.commands",
            "*.cmd",
            "*.cmdline",
            "*.command_line",
            "*.cli_command",
            "*.script",
            "*.bash",
            "*.bash_command",
            "*.shell",
            "*.shell_command",
            "*.argv",
            "Bash.code",
            "Bash.input",
            "Bash.stdin",
            "shell.code",
            "shell.input",
            "shell.stdin",
            "terminal.code",
            "terminal.input",
            "terminal.stdin",
        ),
        "Shell arguments",
        "Texts that are read as a shell does: tool.argument.",
    )
    sql_arguments: tuple[str, ...] = _declare_marks(
        (
            "*.sql",
            "*.query",
            "*.queries",
            "*.statement",
            "*.statements",
        ),
        "SQL arguments",
        "Texts that are read as a database does: tool.argument.",
    )
    schemas: Mapping[str, ToolSchema] = declare(
        dict,
        "Argument schemas",
        "JSON Schema 2020-12 of arguments, by the tool's name.",
        read=_read_schemas,
    )
    always_ask: tuple[str, ...] = declare(
        (
            "disk-*",
            "fork-bomb",
            "infrastructure-destroy",
            "machine-destroy",
            "repository-delete",
        ),
        "Asked every time",
        "Rules that no standing permission covers.",
        read=_read_always_ask,
    )
    rules: Mapping[str, str] = declare(
        dict,
        "Rules",
        "What a rule leads to where that is not as built in, by its name, or its "
        "beginning and a star: git-*.",
        read=_read_decisions,
    )
    disposable: tuple[str, ...] = texts(
        DISPOSABLE,
        "Folders made again",
        "Deleting folders of these names is not asked about.",
        problem=_find_folder_problem,
        pattern=_FOLDER.pattern,
    )
    confirm: tuple[str, ...] = _declare_tools(
        "Always a person", "Tools that always need a person."
    )
    grant_expires_s: int = whole(
        600,
        "A grant holds",
        "An allowed call has to begin within so long.",
        low=1,
        high=_DAY_S,
        unit="s",
    )
    first_look: FirstLook = part(
        FirstLook,
        "A model looks first",
        "Before a person is asked about a call, the server's model may settle it.",
    )
    shell: Marks = field(init=False, compare=False, repr=False)
    sql: Marks = field(init=False, compare=False, repr=False)
    disposable_names: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shell", Marks(self.shell_arguments))
        object.__setattr__(self, "sql", Marks(self.sql_arguments))
        object.__setattr__(self, "disposable_names", frozenset(self.disposable))

    def find_confirm_pattern(self, tool: str) -> str | None:
        """Why every call of this tool needs a person; case does not count, as a tool
        may be found by either spelling."""
        name = tool.casefold()
        for pattern in self.confirm:
            if is_allowlisted(name, [pattern.casefold()]):
                return pattern
        return None

    def decide(self, rule: str, *, default: str) -> str:
        """What a rule leads to: the name itself counts before a star, a longer beginning
        before a shorter one."""
        if not self.rules:
            return default
        named = [name for name in self.rules if is_allowlisted(rule, [name])]
        if not named:
            return default
        chosen = self.rules[max(named, key=lambda name: (name[-1:] != "*", len(name)))]
        if rule in ALWAYS_ASKED:
            return choose_most_severe_call((chosen, default))
        return chosen
