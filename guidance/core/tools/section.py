"""What a policy says about tools: which are known, which texts are read, what is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from guidance.core.arguments import Pattern, Schema, is_allowlisted
from guidance.core.edits.changes import DIFF_LIMIT
from guidance.core.shell_commands.paths import DISPOSABLE
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import GUARD
from guidance.core.tools.first_look import FirstLook
from guidance.core.tools.marked_arguments import Marks
from guidance.core.vocabulary import choose_most_severe_call

# A policy can make these stricter and never lower them.
ALWAYS_ASKED = frozenset(rule.name for rule in RULES.values() if rule.family == GUARD)


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

    allowlist: tuple[str, ...] | None = None
    max_diff_lines: int = DIFF_LIMIT
    lenient_arguments: tuple[str, ...] = ()
    idempotent: tuple[str, ...] = ()
    shell_arguments: tuple[str, ...] = (
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
    )
    sql_arguments: tuple[str, ...] = (
        "*.sql",
        "*.query",
        "*.queries",
        "*.statement",
        "*.statements",
    )
    schemas: Mapping[str, ToolSchema] = field(default_factory=dict)
    patterns: tuple[OwnPattern, ...] = ()
    always_ask: tuple[str, ...] = (
        "disk-*",
        "fork-bomb",
        "infrastructure-destroy",
        "machine-destroy",
        "repository-delete",
    )
    rules: Mapping[str, str] = field(default_factory=dict)
    disposable: tuple[str, ...] = DISPOSABLE
    confirm: tuple[str, ...] = ()
    grant_expires_s: int = 600
    first_look: FirstLook = field(default_factory=FirstLook)
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

    def to_json(self) -> dict[str, object]:
        """The section of the policy document that gives these rules again."""
        return {
            "allowlist": {
                "enabled": self.allowlist is not None,
                "tools": list(self.allowlist or ()),
            },
            "max_diff_lines": self.max_diff_lines,
            "lenient_arguments": list(self.lenient_arguments),
            "idempotent": list(self.idempotent),
            "shell_arguments": list(self.shell_arguments),
            "sql_arguments": list(self.sql_arguments),
            "schemas": {name: dict(s.document) for name, s in self.schemas.items()},
            "patterns": [pattern.to_json() for pattern in self.patterns],
            "always_ask": list(self.always_ask),
            "rules": dict(self.rules),
            "disposable": list(self.disposable),
            "confirm": list(self.confirm),
            "grant_expires_s": self.grant_expires_s,
            "first_look": self.first_look.to_json(),
        }
