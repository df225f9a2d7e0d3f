"""Attempts on the guard: its address, its settings, its data, its variables."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.own_server import serves_again
from guidance.core.shell_commands.families.pipelines import (
    list_feeders,
    shows_no_lines,
)
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.sensitive.guard_paths import (
    is_guard_data,
    is_guard_setting,
)
from guidance.core.shell_commands.shell.tree import (
    Heredoc,
    Simple,
    Substitution,
    Variable,
    Word,
)
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# Quickly: does a text speak of the guard or of a coding agent at all?
_SIGNS = compile_byte_pattern(
    r"checkrail|/reviews/|/queue/|bulk-ruling|/ruling|\.claude|\.codex|\.gemini|\.cursor|claude|codex|bypasspermissions|cr[ktp]_|:8000"
    r"|managed-settings|manage\.py up|/api/v1/|reviews\.models|accounts\.models|hook\.key|dangerously",
    ignore_case=True,
)
# What answers reviews, or changes who and what is asked.
_RULING = re.compile(
    r"/api/v1/(?:reviews/(?:[^/\s\"'?]+/(?:ruling|claim|release|assign|snooze|handover|withdraw)|bulk-ruling)"
    r"|policies/\S+|me/tokens|agents/\S*keys\S*|people\S*|permissions\S*|halts/\S+|project\b)|/reviews/[^/\s\"'?]+/(?:ruling|approve|deny|rule|amend)"
    r"|reviews/.{0,40}/ruling|/p/[^/\s]+/queue/[^/\s\"'?]+/(?:rule|amend|claim|release)\b"
    r"|/api/v1/exemptions|/p/[^/\s]+/(?:settings|policies|people|permissions|agents)/\S*(?:new|edit|save|activate|revoke|delete)",
    re.IGNORECASE,
)
_BUTTON = re.compile(
    r"\b(?:approve|deny|amend|rule|confirm|allow)\b[^\n]{0,80}(?:/reviews/|/queue/|checkrail)"
    r"|(?:/reviews/|/queue/|checkrail)[^\n]{0,80}\b(?:approve|deny|amend)\b",
    re.IGNORECASE,
)
_CHANGING = re.compile(
    r"/api/v1/(?:policies|people|me/tokens|agents|permissions|halts|project)",
    re.IGNORECASE,
)
_MODELS = compile_byte_pattern(
    r"(?:from|import)\s+(?:reviews|accounts|ledger|gateway|guidance|webhooks|loop)\.(?:models|services|rulings)"
    r"|(?:Review|Ruling|ApiKey|AgentKey|PersonalToken|Membership)\.objects"
)
_TOKENS = re.compile(r"cr[ktp]_")
_LOOKING = split_names(
    "ls ll test [ [[ stat wc file du df diff cat head tail less more grep egrep rg jq yq find tree git bat md5sum sha256sum shasum "
    "echo printf python node readlink realpath basename dirname cmp sort cd pushd sed awk tee cp code view"
)
_READERS = split_names(
    "cat head tail less more strings grep egrep rg jq sqlite3 base64 xxd od cp tar zip rsync scp sed awk cut tee bat view vim nano mv"
)
_VARIABLE = re.compile(
    r"CHECKRAIL_\w+|CLAUDE_CONFIG_DIR|CODEX_HOME|CLAUDE_CODE_DISABLE_HOOKS|DISABLE_HOOKS"
)
_RUNNING_AGENT = split_names(
    "claude codex gemini cursor-agent amp opencode copilot qwen goose npx bunx checkrail"
)
# Where an agent looks for its settings, if nothing else is said.
_MOVED_HOME = split_names("HOME USERPROFILE XDG_CONFIG_HOME APPDATA")
_SETTING_VARIABLES = split_names(
    "export declare typeset unset setx set readonly env sudo"
)
_INTERPRETERS = split_names("python node ruby perl php")
_SEARCHING = split_names("grep egrep rg strings ag")
_PRINTING_ALL = split_names("env printenv set export declare")
_TALKING = split_names("nc ncat netcat socat telnet openssl curl wget http")
# They type into a program what a person would.
_TYPING = split_names("expect autoexpect unbuffer script tmux screen")
_TYPED = re.compile(r"\b(?:spawn|send-keys|sendline|stuff)\b[^\n]{0,80}\bcheckrail\b")
_SENDING = re.compile(
    r"\b(?:POST|PUT|PATCH|DELETE|--data|-d|--json)\b|-X ?P| -d ", re.IGNORECASE
)
_IN_PLACE = re.compile(r"-[a-zA-Z]*i.*|--in-?place.*")
_WRITING_CODE = re.compile(r"write|dump|[\"'][wa]b?[\"']|unlink|remove|rmtree")
_SERVER = re.compile(r"checkrail|manage\.py up|[: ]8000\b")
_PROGRAM = re.compile(r"(?:.*/)?bin/checkrail(?:-\w+)?")
# A file of that name is run in place of the client, wherever PATH finds it first.
_SHADOW = re.compile(r"(?:.*/)?checkrail(?:-hooks?)?(?:\.(?:cmd|bat|exe|ps1))?")
_SECRET_SETTING = re.compile(r"(?!CHECKRAIL_URL\Z)CHECKRAIL(?:_\w+)?", re.IGNORECASE)
_STARTUP = re.compile(
    r"(?:.*/)?\.(?:bashrc|profile|zshrc|zshenv|bash_profile|zprofile|env|envrc)"
)
_QUOTED = re.compile(r"[\"']([^\"'\n]{4,160})[\"']")
_KILLING = split_names("kill fuser xargs")
_GIT_CHANGING = split_names(
    "checkout restore rm mv reset clean stash apply am revert update-index"
)
_WRITTEN = (">", ">>", ">|", "&>", "&>>")


def speaks_of_guard(text: str) -> bool:
    data = encode_one_byte(text)
    return (
        _SIGNS.search(data) is not None
        or _SIGNS.search(data.translate(None, b"\"'\\")) is not None
    )


def is_ruling_request(text: str) -> bool:
    """An address that answers a review, or a button on the page of one."""
    return _RULING.search(text) is not None or _BUTTON.search(text) is not None


def judge_guard(walk: Walk, call: ProgramCall) -> None:
    """Everything that a call could do to the guard by words, paths and addresses."""
    name, argv = call.name, call.argv
    if any(_RULING.search(word) for word in argv[1:]) and name not in _LOOKING - {
        "python",
        "node",
    }:
        text = " ".join(argv)
        if not _CHANGING.search(text) or _SENDING.search(text):
            walk.report.add("guard-ruling", call)
    if name in ("python", "manage.py", "sqlite3", "psql") and any(
        _MODELS.search(encode_one_byte(word)) for word in argv[1:]
    ):
        walk.report.add("guard-data", call)
    judge_guard_setting(walk, call)
    _judge_paths(walk, call)
    _judge_variables(walk, call)
    if name in _SEARCHING and (
        any(_TOKENS.search(word) for word in argv[1:]) or _picks_settings(walk, call)
    ):
        walk.report.add("guard-data", call)
    if name in _TALKING and any(map(_RULING.search, _list_fed(walk, call))):
        walk.report.add("guard-ruling", call)
    if (name in _TYPING or name in _INTERPRETERS) and any(
        map(_TYPED.search, (" ".join(argv), *_list_fed(walk, call)))
    ):
        walk.report.add("guard-ruling", call)
    if name == "alias" and any(
        word.startswith(("checkrail=", "claude=")) for word in argv
    ):
        walk.report.add("guard-settings", call)
    if name in _KILLING:
        _judge_kill(walk, call)
    if name in ("chmod", "chown", "mv", "rm", "ln", "cp", "unlink") and _names_program(
        call
    ):
        walk.report.add("guard-settings", call)


def judge_guard_redirections(walk: Walk, call: ProgramCall) -> None:
    for redirect in call.simple.redirects:
        if isinstance(redirect.target, Heredoc):
            continue
        path = walk.known.expand_word(redirect.target)
        if redirect.operator in _WRITTEN:
            if (
                is_guard_setting(path)
                or _SHADOW.fullmatch(path)
                or _is_guard_process(redirect.target)
            ):
                walk.report.add_whole("guard-settings", call)
            elif is_guard_data(path):
                walk.report.add_whole("guard-data", call)
            elif (
                call.argv
                and _is_startup(path)
                and any("CHECKRAIL_" in word for word in call.argv[1:])
            ):
                walk.report.add_whole("guard-environment", call)
        elif redirect.operator == "<" and (
            is_guard_data(path) or _is_guard_process(redirect.target)
        ):
            walk.report.add_whole("guard-data", call)


def judge_guard_setting(walk: Walk, call: ProgramCall) -> None:
    """Variables set before a command, or alone."""
    for assignment in call.simple.assignments:
        if _VARIABLE.fullmatch(assignment.name):
            running = not call.argv or call.name in _RUNNING_AGENT
            if assignment.name.startswith("CHECKRAIL_") or running:
                walk.report.add_whole("guard-environment", call)
                return
        elif assignment.name in _MOVED_HOME and call.name in _RUNNING_AGENT:
            walk.report.add_whole("guard-environment", call)
            return


def _judge_paths(walk: Walk, call: ProgramCall) -> None:
    words = [part for word in call.argv[1:] for part in (word, word.partition("=")[2])]
    settings = any(is_guard_setting(word) for word in words if word)
    data = any(is_guard_data(word) for word in words if word) or _names_variable(call)
    if call.name in _INTERPRETERS and _writes_in_code(call):
        settings = True
    if settings and _is_changing(call):
        walk.report.add("guard-settings", call)
    if data and (call.name in _READERS or _is_changing(call)):
        walk.report.add("guard-data", call)


def _is_changing(call: ProgramCall) -> bool:
    name, argv = call.name, call.argv
    if name == "git":
        return bool(_GIT_CHANGING & set(argv[1:4]))
    if name in ("sed", "awk", "yq", "jq", "perl"):
        return any(map(_IN_PLACE.fullmatch, argv[1:]))
    if name in ("cp", "tee"):
        last = argv[-1] if name == "cp" else ""
        return is_guard_setting(last) or is_guard_data(last) or name == "tee"
    if name in ("python", "node"):
        return any(map(_WRITING_CODE.search, argv[1:]))
    return name not in _LOOKING


def _writes_in_code(call: ProgramCall) -> bool:
    """A program on the command line that opens one of these files for writing."""
    return any(
        is_guard_setting(found[1]) or is_guard_data(found[1])
        for word in call.argv[1:]
        if _WRITING_CODE.search(word)
        for found in _QUOTED.finditer(word[:4_000])
    )


def _judge_variables(walk: Walk, call: ProgramCall) -> None:
    name, argv = call.name, call.argv
    if name in _SETTING_VARIABLES:
        for index, word in enumerate(argv[1:], 1):
            variable, equals, _ = word.partition("=")
            variable = variable.removeprefix("-u").removeprefix("--unset")
            taken = (
                equals
                or name in ("unset", "setx")
                or argv[index - 1] in ("-u", "-n", "--unset")
                or word.startswith("-u")
            )
            if _VARIABLE.fullmatch(variable.strip("= ")) and taken:
                walk.report.add("guard-environment", call)
                return


def _judge_kill(walk: Walk, call: ProgramCall) -> None:
    """`kill $(lsof -ti :8000)`: who is meant stands in the substitution or the pipe."""
    texts = []
    for word in call.simple.words:
        for piece in word.pieces if isinstance(word, Word) else ():
            if isinstance(piece, Substitution):
                texts += [
                    " ".join(map(str, item.words))
                    for item in piece.script.items
                    if isinstance(item, Simple)
                ]
    if call.name == "xargs" and "kill" not in call.argv:
        return
    if call.more != () or call.name == "xargs":
        texts += [
            " ".join(map(str, item.words))
            for item in list_feeders(call.script, call.simple)
        ]
    if any(map(_SERVER.search, texts)) and not serves_again(call):
        walk.report.add("guard-server", call)


def _names_program(call: ProgramCall) -> bool:
    """The client's own program, by its path or by `which`."""
    if any(map(_PROGRAM.fullmatch, call.argv[1:])):
        return True
    if call.name in ("chmod", "ln") and any(map(_SHADOW.fullmatch, call.argv[2:])):
        return True
    for word in call.simple.words[1:]:
        for piece in word.pieces if isinstance(word, Word) else ():
            if isinstance(piece, Substitution):
                for item in piece.script.items:
                    if isinstance(item, Simple) and "checkrail" in item.words:
                        return True
    return any(
        resolve_program(word) == "checkrail" and "/" in word and "bin" in word
        for word in call.argv[1:]
    )


def _is_guard_process(target: object) -> bool:
    if not isinstance(target, Word):
        return False
    return any(
        "checkrail" in str(word)
        for piece in target.pieces
        if isinstance(piece, Substitution)
        for item in piece.script.items
        if isinstance(item, Simple)
        for word in item.words
    )


def _is_startup(path: str) -> bool:
    return _STARTUP.fullmatch(path) is not None


def _list_fed(walk: Walk, call: ProgramCall) -> list[str]:
    """What the program gets on its input, as far as it can be known."""
    content = walk.find_stdin(call)
    texts = [content.text] if content is not None and content.text else []
    for feeder in list_feeders(call.script, call.simple):
        texts += walk.known.build_argv(feeder.words)[1:]
    return texts


def _picks_settings(walk: Walk, call: ProgramCall) -> bool:
    """`env | grep CHECKRAIL` shows the key; asking whether it is set does not."""
    feeder = next(list_feeders(call.script, call.simple), None)
    if feeder is None or shows_no_lines(call.argv):
        return False
    argv = walk.known.build_argv(feeder.words)
    return (
        bool(argv)
        and resolve_program(argv[0]) in _PRINTING_ALL
        and any(_SECRET_SETTING.search(word) for word in call.argv[1:])
    )


def _names_variable(call: ProgramCall) -> bool:
    """A file below a folder that only a variable of the guard names."""
    return call.first >= 0 and any(
        isinstance(piece, Variable) and _SECRET_SETTING.fullmatch(piece.name)
        for word in call.simple.words[1:]
        if isinstance(word, Word)
        for piece in word.pieces
    )
