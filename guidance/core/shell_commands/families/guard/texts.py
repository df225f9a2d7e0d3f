"""Words and addresses by which a text speaks of the guard, or answers it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.code.folding import fold_names
from guidance.core.shell_commands.findings import Span
from guidance.core.shell_commands.own_server import OwnServer

# Coding agents that are guarded, as their windows and sessions are called.
AGENTS = r"claude|codex|gemini|cursor|copilot|opencode|aider|goose|qwen"
# Quickly: does a text speak of the guard or of a coding agent at all?
SIGNS = compile_byte_pattern(
    r"checkrail|/reviews/|/queue/|bulk-ruling|/ruling|\.claude|\.codex|\.gemini|\.cursor|claude|codex|gemini|bypasspermissions|cr[ktp]_"
    r"|managed-settings|manage\.py up|/api/v1/|(?:reviews|accounts|guidance|gateway|ledger)\.(?:policies\.)?(?:models|services|rulings)|hook\.key|dangerously|kill-port"
    r"|reviews_(?:review|ruling|permission|grant|exemption)|accounts_(?:agentkey|personaltoken|membership)|guidance_policy"
    r"|polic(?:y|ies)\b",
    ignore_case=True,
)
# What answers reviews, or changes who and what is asked.
_RULING = re.compile(
    r"/api/v1/(?:reviews/(?:[^/\s\"'?]+/(?:ruling|claim|release|assign|snooze|handover|withdraw)|bulk-ruling)"
    r"|runs/[^/\s\"'?]+/(?:reopen|notes(?![/\w]))"
    r"|policies/\S+|me/tokens|agents\b\S*|people\S*|invitations/\S+|limits/raise|permissions\S*|halts\b\S*|project\b)|/reviews/[^/\s\"'?]+/(?:ruling|approve|deny|rule|amend)"
    r"|reviews/.{0,40}/ruling|/p/[^/\s]+/queue/[^/\s\"'?]+/(?:rule|amend|claim|release)\b"
    r"|https?://[\w.-]{0,80}checkrail[\w.-]{0,80}(?::\d+)?/\S{0,200}\b(?:approve|allow|accept)\b"
    r"|/api/v1/exemptions|/p/[^/\s]+/(?:settings|policies|people|permissions|agents|halts)/\S*(?:new|edit|save|activate|revoke|delete|release)"
    r"|/p/[^/\s]+/runs/[^/\s\"'?]+/tell\b",
    re.IGNORECASE,
)
_RULING_PATHS = compile_byte_pattern("api/v1/|reviews/|/p/|checkrail", ignore_case=True)
# These lists may be read; only what is sent to them changes anything.
_READABLE = re.compile(
    r"/api/v1/(?:policies|people|me/tokens|agents|permissions|halts|project|runs/[^/\s\"'?]+/notes)",
    re.IGNORECASE,
)
_SENDING = re.compile(
    r"\b(?:POST|PUT|PATCH|DELETE|-d)\b|(?<![\w-])--(?:data|json)\b|-X ?P| -d ",
    re.IGNORECASE,
)
# Of these only what no other program has: whoever writes one may have reviews, too.
_OWN_RULING = re.compile(
    r"reviews/.{0,60}/ruling\b|\bbulk-ruling\b|/api/v1/runs/.{0,60}/reopen\b"
)
# The client, told to answer: as a command in a script, or by what a program imports.
_COMMAND = re.compile(
    r"\bcheckrail\s+(?:approve|amend|deny|answer|skip|retry|reopen|halt|release|tell)\b"
)
_IMPORT = re.compile(r"\b(?:from|import)\s+checkrail\b")
_PEOPLES_PART = re.compile(r"\b(?:Desk|people|cli)\b")
_ANSWERING = re.compile(
    r"\.(?:rule|approve|amend|deny|answer|skip|retry|reopen_run|release_halt|tell)\(|\bmain\("
)
# One of these stands in whatever answers a review.
_ANSWER_WORDS = ("ruling", "/reopen", "checkrail")
# What agents themselves ask the server to do.
_AGENTS_PART = re.compile(
    r"/api/v1/(?:runs|evaluate|hooks|loop|telemetry|otlp|v1)\b(?!\S*/(?:reopen|notes(?![/\w])))",
    re.IGNORECASE,
)
# A button, and the page of a review or a queue that it stands on.
_PRESSED = re.compile(
    r"\b(?:approve|deny|amend|rule|confirm|allow|accept)\b", re.IGNORECASE
)
_REVIEW_PAGE = re.compile(
    r"/(?:reviews?|requests?|approvals?|pending|queue)/[\w-]+|checkrail", re.IGNORECASE
)
# The same, of the guard alone, in a program that presses the button.
_OWN_PAGE = re.compile(r"/p/[^/\s]{1,80}/queue/|checkrail")
_CLICK = re.compile(r"\b(?:click|press|submit|tap)\(")
_REDEFINED = re.compile(
    r"(?:^|[;&|\n{(])[ \t]*(?:function[ \t]+checkrail\b|checkrail[ \t]*\([ \t]*\))[^\n]{0,40}"
    r"|\$env:CHECKRAIL_\w{1,40}[ \t]*=",
    re.IGNORECASE,
)
# Another program's reviews, where people approve code and not agents.
_FORGE = re.compile(r"\b(?:github|gitlab|bitbucket)\.\w", re.IGNORECASE)


def is_ruling_address(text: str) -> bool:
    """An address that answers a review, or changes who and what is asked."""
    return may_be_ruling_address(text) and _RULING.search(text) is not None


def may_be_ruling_address(text: str) -> bool:
    """Most words hold none of its paths, told in a tenth of the time."""
    return _RULING_PATHS.search(encode_one_byte(text)) is not None


def is_answer(text: str) -> bool:
    """The client told to answer a review."""
    return _COMMAND.search(text) is not None


def answers_review(program: str) -> bool:
    """A program or script that would answer a review, by an address or by the client."""
    text = fold_names(program)
    if not any(word in text for word in _ANSWER_WORDS):
        # Told in a hundredth of the time (bench: "quotes in place of other lines").
        return False
    return (
        _OWN_RULING.search(text) is not None
        or is_answer(text)
        or (
            _IMPORT.search(text) is not None
            and _PEOPLES_PART.search(text) is not None
            and _ANSWERING.search(text) is not None
        )
    )


def presses_button(program: str, server: OwnServer) -> bool:
    """A program that drives a browser on one of the guard's own pages."""
    text = program
    return (
        (_OWN_PAGE.search(text) is not None or server.is_addressed(text))
        and _PRESSED.search(text) is not None
        and _CLICK.search(text) is not None
    )


def list_redefinitions(text: str) -> Iterator[Span]:
    """`checkrail() { true; }`, `$env:CHECKRAIL_URL = ""`: where another one is put."""
    if "checkrail" in text.lower():
        for match in _REDEFINED.finditer(text):
            yield match.span()


def is_only_read(text: str) -> bool:
    """The address may be looked at, and nothing is sent to it."""
    return _READABLE.search(text) is not None and _SENDING.search(text) is None


def is_agents_part(text: str) -> bool:
    return _AGENTS_PART.search(text) is not None


def is_sending(text: str) -> bool:
    return _SENDING.search(text) is not None


def is_ruling_request(text: str) -> bool:
    """Such an address, or a button on the page of a review."""
    return is_ruling_address(text) or (
        _PRESSED.search(text) is not None
        and _REVIEW_PAGE.search(text) is not None
        and _FORGE.search(text) is None
    )
