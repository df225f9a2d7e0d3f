"""The tools section of a policy: every key has a default, bounds and a reason to refuse."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from guidance.core.document_reader import LIST_LIMIT
from guidance.core.policy import load_policy
from guidance.core.shell_commands.paths import DISPOSABLE
from guidance.core.tools.section import ToolRules
from tests.guidance.core.policy.dumps import dump_policy
from tests.guidance.core.tools.builders import problems, rules
from tests.support.rows import each_row

PATTERN = {"name": "own", "pattern": "moon", "message": "No moons"}
FULL: dict[str, Any] = {
    "allowlist": {"enabled": True, "tools": ["Read", "mcp_*"]},
    "max_diff_lines": 0,
    "lenient_arguments": ["Loose"],
    "idempotent": ["Read*"],
    "shell_arguments": ["Bash.command", "mcp.x*.run"],
    "sql_arguments": [],
    "schemas": {"Write": {"type": "object", "required": ["path"]}},
    "patterns": [{**PATTERN, "decision": "block"}],
    "always_ask": ["own", "git-*", "sql-drop"],
    "rules": {"delete-file": "allow", "git-*": "warn"},
    "disposable": ["out"],
    "confirm": ["deploy", "mcp__pay__*"],
    "grant_expires_s": 86_400,
    "first_look": {
        "enabled": True,
        "rules": ["delete-*"],
        "may": ["deny"],
        "blind_share": 0.5,
        "timeout_s": 3,
        "max_asked_per_day": None,
        "max_cost_usd_per_day": "2.50",
    },
}


def test_nothing_said_is_the_default() -> None:
    assert rules() == ToolRules()
    assert rules() == ToolRules(
        allowlist=None,
        max_diff_lines=300,
        lenient_arguments=(),
        idempotent=(),
        shell_arguments=(
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
        sql_arguments=(
            "*.sql",
            "*.query",
            "*.queries",
            "*.statement",
            "*.statements",
        ),
        schemas={},
        patterns=(),
        always_ask=(
            "disk-*",
            "fork-bomb",
            "infrastructure-destroy",
            "machine-destroy",
            "repository-delete",
        ),
        rules={},
        disposable=DISPOSABLE,
        confirm=(),
        grant_expires_s=600,
    )


def test_every_key_is_read_and_written_again() -> None:
    assert set(FULL) == {field.name for field in fields(ToolRules) if field.init}
    policy = load_policy({"tools": FULL})
    for name, value in FULL.items():
        if name not in {"allowlist", "schemas", "patterns", "first_look"}:
            read = getattr(policy.tools, name)
            assert (list(read) if isinstance(value, list) else read) == value
    document: dict[str, Any] = dump_policy(policy)
    assert document["tools"] == FULL
    again = load_policy(document)
    assert again == policy
    assert dump_policy(again) == document


def test_a_list_that_is_off_allows_every_tool_and_an_empty_one_none() -> None:
    assert rules(allowlist={"enabled": True}).allowlist == ()
    assert rules(allowlist={"tools": ["Read"]}).allowlist is None


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("max_diff_lines", 0, 10**6), ("grant_expires_s", 1, 86_400)],
)
def test_figures_may_reach_their_bounds_and_not_pass_them(
    name: str, low: int, high: int
) -> None:
    for bound in (low, high):
        assert getattr(rules(**{name: bound}), name) == bound
    for wrong in (low - 1, high + 1, True, "1", 1.0, None):
        assert f"tools.{name}" in problems(**{name: wrong})


@each_row("name", FULL)
def test_null_never_erases_anything(name: str) -> None:
    assert f"tools.{name}" in problems(**{name: None})


LISTS = [
    *("lenient_arguments", "idempotent", "shell_arguments", "sql_arguments"),
    *("always_ask", "confirm"),
]


@each_row("name", LISTS)
def test_lists_hold_texts_and_end_somewhere(name: str) -> None:
    good = FULL[name][0] if FULL[name] else "*.sql"
    assert problems(**{name: [good] * LIST_LIMIT, "patterns": [PATTERN]}) == {}
    assert f"tools.{name}" in problems(**{name: [good] * (LIST_LIMIT + 1)})
    assert f"tools.{name}" in problems(**{name: good})
    assert problems(**{name: [5]})[f"tools.{name}.0"] == "must be a text"


@each_row(
    ("section", "path", "why"),
    [
        ({"alowlist": {}}, "alowlist", "unknown key"),
        ({"allowlist": {"tool": []}}, "allowlist.tool", "unknown key"),
        ({"allowlist": {"enabled": 1}}, "allowlist.enabled", "true or false"),
        (
            {"allowlist": {"tools": ["a*b"]}},
            "allowlist.tools.0",
            "only stand at the end",
        ),
        ({"allowlist": {"tools": [" "]}}, "allowlist.tools.0", "allows nothing"),
        ({"idempotent": ["Read", "R\u200b"]}, "idempotent.1", "U+200B"),
        ({"lenient_arguments": ["**"]}, "lenient_arguments.0", "only stand at the end"),
        ({"shell_arguments": ["command"]}, "shell_arguments.0", "tool.argument"),
        ({"shell_arguments": ["Bash."]}, "shell_arguments.0", "tool.argument"),
        ({"sql_arguments": [".sql"]}, "sql_arguments.0", "allows nothing"),
        ({"always_ask": ["rm-everything"]}, "always_ask.0", "no rule has this name"),
        ({"always_ask": ["zzz-*"]}, "always_ask.0", "no rule has this name"),
        ({"rules": ["delete-file"]}, "rules", "must be an object"),
        ({"rules": {"rm-*": "warn"}}, "rules.rm-*", "no built-in rule has this name"),
        ({"rules": {"delete-file": "ask"}}, "rules.delete-file", "must be one of"),
        ({"disposable": ["a/b"]}, "disposable.0", "the name of a folder"),
        ({"disposable": ["*"]}, "disposable.0", "the name of a folder"),
        ({"disposable": [".."]}, "disposable.0", "the name of a folder"),
        ({"confirm": ["pay*ment"]}, "confirm.0", "only stand at the end"),
        ({"schemas": []}, "schemas", "must be an object"),
        ({"schemas": {"Write": True}}, "schemas.Write", "must be an object"),
        ({"schemas": {"": {}}}, "schemas.", "the name is empty"),
        ({"schemas": {"W": {"type": 5}}}, "schemas.W", "not a usable schema"),
        (
            {"schemas": {"W": {"$ref": "https://example.org/s"}}},
            "schemas.W",
            "not a usable schema",
        ),
        (
            {"schemas": {"W": {"pattern": "(a)\\1"}}},
            "schemas.W",
            "not a usable schema",
        ),
    ],
)
def test_what_is_wrong_is_named(section: dict[str, Any], path: str, why: str) -> None:
    found = problems(**section)
    assert list(found) == [f"tools.{path}"]
    assert why in found[f"tools.{path}"]


@each_row(
    ("changed", "path", "why"),
    [
        ({"pattern": r"(a+)+\1"}, "pattern", "linear time"),
        ({"pattern": r"(?P<x>a)(?P=x)"}, "pattern", "linear time"),
        ({"pattern": "(?=a)b"}, "pattern", "linear time"),
        ({"pattern": "("}, "pattern", "missing"),
        ({"pattern": ""}, "pattern", "must be a text"),
        ({"pattern": None}, "pattern", "must be a text"),
        ({"name": ""}, "name", "must be a text"),
        ({"name": "n" * 65}, "name", "1 to 64"),
        ({"name": "sql-drop"}, "name", "a built-in rule has this name"),
        ({"message": "m" * 301}, "message", "1 to 300"),
        ({"decision": "allow"}, "decision", "must be one of block"),
        ({"decision": "deny"}, "decision", "must be one of block"),
        ({"flags": "i"}, "flags", "unknown key"),
    ],
)
def test_an_own_pattern_is_refused_with_the_reason(
    changed: dict[str, Any], path: str, why: str
) -> None:
    found = problems(patterns=[PATTERN, {**PATTERN, **changed}])
    assert list(found) == [f"tools.patterns.1.{path}"]
    assert why in found[f"tools.patterns.1.{path}"]


def test_a_bomb_that_is_linear_here_is_taken() -> None:
    assert problems(patterns=[{**PATTERN, "pattern": "(a+)+$"}]) == {}


def test_an_own_rule_may_be_asked_about_every_time() -> None:
    assert "tools.always_ask.0" in problems(always_ask=["own"])
    assert problems(always_ask=["own"], patterns=[PATTERN]) == {}


def test_an_own_pattern_asks_unless_it_says_otherwise() -> None:
    (own,) = rules(patterns=[PATTERN]).patterns
    assert own.decision == "require-confirmation"
