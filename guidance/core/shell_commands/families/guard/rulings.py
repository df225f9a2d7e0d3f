"""Reviews answered by an address, by a program's input, or by keys that are typed."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.guard.texts import (
    AGENTS,
    answers_review,
    is_agents_part,
    is_only_read,
    is_ruling_address,
    is_sending,
    may_be_ruling_address,
    presses_button,
)
from guidance.core.shell_commands.families.pipelines import list_feeders
from guidance.core.shell_commands.shell.tree import Variable, Word
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# They show the words they are given, and ask nobody.
SHOWING = split_names(
    "ls ll test [ [[ stat wc file du df diff cat head tail less more grep egrep rg jq yq find tree git bat md5sum sha256sum shasum "
    "echo printf readlink realpath basename dirname cmp sort cd pushd sed awk tee cp code view"
)
_TALKING = split_names("nc ncat netcat socat telnet openssl curl wget http")
INTERPRETERS = split_names("python node ruby perl php bun deno")
_REQUESTING = split_names(
    "curl wget http xh invoke-webrequest invoke-restmethod iwr irm"
)
_GUARDS_ADDRESS = re.compile(
    r"https?://[\w.-]*checkrail[\w.-]*(?:[:/]|\Z)", re.IGNORECASE
)
# They type into another window what a person would.
TYPING = split_names(
    "expect autoexpect unbuffer script tmux screen zellij kitty kitten wezterm xdotool "
    "ydotool wtype dotool cliclick wmctrl osascript autohotkey"
)
_TYPED = re.compile(
    r"\b(?:spawn|send-keys|sendline|stuff|send-text|write-chars|do script|keystroke|key|type)\b[^\n]{0,80}\bcheckrail\b"
    r"|\bcheckrail\b[^\n]{0,80}\b(?:key|type|keystroke|click|stuff)\b",
    re.IGNORECASE,
)
# Into the window of an agent, where it asks its own questions.
_INTO_AGENT = re.compile(
    rf"\b(?:send-keys|send|stuff|send-text|write-chars)\b[^\n]{{0,80}}\b(?:{AGENTS})\b"
    rf"|(?:-S|-t|--match|--target|title:)\s*\S{{0,40}}?(?:{AGENTS})\b[^\n]{{0,80}}\b(?:send-keys|stuff|send-text|write-chars)\b"
    rf"|\b(?:search|activate|-a)\b[^\n]{{0,40}}\b(?:checkrail|{AGENTS})\b[^\n]{{0,80}}\b(?:key|type|click|windowactivate)\b",
    re.IGNORECASE,
)

# They type into whichever window is in front.
_BY_WINDOW = split_names("xdotool ydotool wtype dotool cliclick")


def judge_rulings(walk: Walk, call: ProgramCall) -> None:
    name, argv = call.name, call.argv
    words = " ".join(argv)
    if (
        (
            name not in SHOWING
            # All words at once, as most name no such address (bench: "a request").
            and may_be_ruling_address(words)
            and any(map(is_ruling_address, argv[1:]))
            and not is_only_read(words)
        )
        or (name in _REQUESTING and _changes_guard(walk, call, words))
    ):
        walk.report.add("guard-ruling", call)
    if name in _TALKING and any(map(is_ruling_address, list_fed(walk, call))):
        walk.report.add("guard-ruling", call)
    if name in INTERPRETERS and any(
        answers_review(text) or presses_button(text, walk.server)
        for text in list_code(walk, call)
    ):
        walk.report.add("guard-ruling", call)
    if name in TYPING or name in INTERPRETERS:
        texts = [words, *list_fed(walk, call)]
        if name in _BY_WINDOW:
            # The window may be chosen by the command before.
            texts.append(walk.budget.read_again(call.script.text))
        if any(map(types_answer, texts)):
            walk.report.add("guard-ruling", call)


def types_answer(text: str) -> bool:
    """Keys for the guard's window, or for an agent's, where it asks its own questions."""
    line = text.replace("\n", " ")
    return _TYPED.search(line) is not None or _INTO_AGENT.search(line) is not None


def _changes_guard(walk: Walk, call: ProgramCall, words: str) -> bool:
    """Something is sent to the guard's own address that is no agent's business."""
    if not is_sending(words) or is_agents_part(words):
        return False
    if _GUARDS_ADDRESS.search(words) or walk.server.is_addressed(words):
        return True
    return any(
        isinstance(piece, Variable) and piece.name == "CHECKRAIL_URL"
        for word in call.simple.words[1:]
        if isinstance(word, Word)
        for piece in word.pieces
    )


def list_code(walk: Walk, call: ProgramCall) -> list[str]:
    """The programs that an interpreter is given: as words, as input, as files made here."""
    texts = [*call.argv[1:], *list_fed(walk, call)]
    for word in call.argv[1:] if walk.known.files else ():
        content = walk.known.get_file(word)
        if content is not None and content.text:
            texts.append(content.text)
    return texts


def list_fed(walk: Walk, call: ProgramCall) -> list[str]:
    """What the program gets on its input, as far as it can be known."""
    content = walk.find_stdin(call)
    texts = [content.text] if content is not None and content.text else []
    for feeder in list_feeders(call.script, call.simple):
        texts += walk.known.build_argv(feeder.words)[1:]
    return texts
