"""Everything that the families have to say about one call of a program."""

from __future__ import annotations

import re
from collections.abc import Mapping

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.addresses import is_metadata_address
from guidance.core.shell_commands.families.afar import (
    CONNECTING,
    DETACHING,
    INSTALLING,
    SQL_CLIENTS,
    judge_clone,
    judge_connection,
    judge_detached,
    judge_manifest,
    judge_new_remote,
    judge_package_file,
    judge_sql_grants,
    judge_ssh,
)
from guidance.core.shell_commands.families.archives import UNPACKING, judge_archive
from guidance.core.shell_commands.families.code import INTERPRETING, judge_program_text
from guidance.core.shell_commands.families.copies import (
    COPYING,
    MAILING,
    judge_copy,
    judge_mail,
)
from guidance.core.shell_commands.families.elevation import ELEVATING, judge_elevation
from guidance.core.shell_commands.families.environment import (
    DUMPING,
    PRINTING,
    judge_environment,
)
from guidance.core.shell_commands.families.guard.files import judge_guard_redirections
from guidance.core.shell_commands.families.guard.judge import judge_guard
from guidance.core.shell_commands.families.guard.rulings import TYPING
from guidance.core.shell_commands.families.guard.variables import judge_guard_setting
from guidance.core.shell_commands.families.lookups import LOOKING_UP, judge_lookup
from guidance.core.shell_commands.families.pipelines import is_hunted, is_kept_private
from guidance.core.shell_commands.families.publishing import (
    BUILDING,
    FORGES,
    judge_forge,
    judge_image,
    judge_web_client,
)
from guidance.core.shell_commands.families.reads import (
    READING,
    judge_input,
    judge_reads,
)
from guidance.core.shell_commands.families.requests import REQUESTING, judge_request
from guidance.core.shell_commands.families.streams import STREAMING, judge_stream
from guidance.core.shell_commands.families.writes import (
    WRITING,
    judge_output,
    judge_writes,
)
from guidance.core.shell_commands.rules import FAMILY_PATTERNS, PATTERNS, WINDOWS
from guidance.core.shell_commands.rules.invocation import sort_arguments
from guidance.core.shell_commands.shell.tree import (
    Heredoc,
    Redirect,
    Substitution,
    Word,
)
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.word_lists import split_names

_HELP = ("--help", "-h", "help", "--version", "-V", "/?", "-help", "-?")
# Of these a finding says that something is shown, which may not be so.
_SHOWN = ("credential-print", "credential-environment")


def _judge_patterns(walk: Walk, call: ProgramCall) -> None:
    program = FAMILY_PATTERNS[call.name]
    argv = call.argv
    if not program.concerns(argv):
        return
    slashes = call.name in WINDOWS
    if slashes:
        argv = walk.report.get_raw_words(call)
    found = sort_arguments(call.name, argv, slashes=slashes)
    found.operands += call.more or ()
    found.server = walk.server
    pattern = program.match(found)
    if pattern is None:
        return
    rule = pattern.rule.name
    if rule in _SHOWN and is_kept_private(walk, call):
        return
    if (
        call.name == "terraform"
        and rule in _SHOWN
        and not found.operands[1:]
        and not is_hunted(walk, call)
    ):
        # Ordinary outputs stand beside the secret ones.
        return
    walk.report.add(rule, call)


def _judge_address(walk: Walk, call: ProgramCall) -> None:
    if is_metadata_address("\n".join(call.argv[1:])):
        walk.report.add("credential-metadata", call)


_Table = tuple[tuple[frozenset[str], Handler], ...]
_FETCHING = split_names("curl wget http invoke-webrequest invoke-restmethod iwr irm")
# Programs that may have to do with the guard's files, besides those with rules.
_TOUCHING = split_names(
    "chmod chown touch unlink sponge apply_patch checkrail claude codex setx unset env sudo node "
    "bun httpie xh fuser kill xargs npx bunx pnpx kill-port fkill amp opencode copilot qwen goose gemini cursor-agent alias xdg-open open start lynx w3m links chromium firefox export declare typeset readonly"
)
_ALWAYS: _Table = (
    (frozenset(FAMILY_PATTERNS), _judge_patterns),
    (DUMPING, judge_environment),
    (ELEVATING, judge_elevation),
    (CONNECTING, judge_connection),
    (split_names("ssh"), judge_ssh),
    (split_names("git"), judge_clone),
    (split_names("git"), judge_new_remote),
    (SQL_CLIENTS, judge_sql_grants),
    (DETACHING, judge_detached),
    (INSTALLING, judge_package_file),
    (UNPACKING, judge_archive),
    (INTERPRETING, judge_program_text),
    (REQUESTING, judge_request),
    (STREAMING, judge_stream),
    (MAILING, judge_mail),
    (COPYING, judge_copy),
    (LOOKING_UP, judge_lookup),
    (split_names("new-object"), judge_web_client),
)
_SENSITIVE: _Table = (
    *_ALWAYS,
    (PRINTING, judge_environment),
    (READING, judge_reads),
    (WRITING, judge_writes),
    (_FETCHING, _judge_address),
    (FORGES, judge_forge),
    (BUILDING, judge_image),
    (split_names("kubectl"), judge_manifest),
)


def _build_judges(table: _Table) -> dict[str, tuple[Handler, ...]]:
    found: dict[str, tuple[Handler, ...]] = {}
    for names, judge in table:
        for name in names:
            found[name] = (*found.get(name, ()), judge)
    return found


# Programs about which more is asked than patterns can say.
FOLLOWED = frozenset(name for names, _ in _ALWAYS[1:] for name in names)
# What is asked about a program: in any text, in one that may be sensitive, and in one
# that may be about the guard itself.
JUDGES: Mapping[str, tuple[Handler, ...]] = _build_judges(_ALWAYS)
SENSITIVE_JUDGES: Mapping[str, tuple[Handler, ...]] = _build_judges(_SENSITIVE)


GUARD_JUDGES: Mapping[str, tuple[Handler, ...]] = _build_judges(
    (
        (
            _TOUCHING | TYPING | PATTERNS.keys() | frozenset(_build_judges(_SENSITIVE)),
            judge_guard,
        ),
        *_SENSITIVE,
    )
)


# What nearly every script does, and no family has a word about (bench: "a script").
_MESSAGES = re.compile(r"/tmp/[\w\0-]+\.(?:log|txt|out|err)")  # noqa: S108


def _takes_messages(walk: Walk, redirect: Redirect) -> bool:
    """`> /tmp/build.log`: nothing that anybody runs, trusts or keeps."""
    target = redirect.target
    if isinstance(target, Heredoc) or redirect.operator not in (">", ">>", "&>"):
        return False
    if isinstance(target, Word) and any(
        isinstance(piece, Substitution) for piece in target.pieces
    ):
        return False
    return _MESSAGES.fullmatch(walk.known.expand_word(target)) is not None


def _is_explanation(call: ProgramCall) -> bool:
    """`tool --help`, `tool verb help`: at the end of what shows or sends files some of
    these words are options of their own, or names."""
    last = call.argv[-1] if len(call.argv) > 1 else ""
    return last in _HELP and (
        last.startswith("--")
        or len(call.argv) == 2
        or call.name not in READING | COPYING | REQUESTING
    )


def inspect_call(walk: Walk, call: ProgramCall, judges: tuple[Handler, ...]) -> None:
    """Judge a call by the families; what wraps another program is judged for itself."""
    if _is_explanation(call):
        return
    for judge in judges:
        judge(walk, call)


def inspect_redirections(walk: Walk, call: ProgramCall) -> None:
    if not all(_takes_messages(walk, each) for each in call.simple.redirects):
        judge_input(walk, call)
        judge_output(walk, call)
        judge_guard_redirections(walk, call)
    if not call.argv:
        judge_guard_setting(walk, call)
