"""Files of the guard itself: the settings that start it, and what it keeps."""

from __future__ import annotations

from guidance.core.regex import BytePattern, compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.sensitive.secret_paths import HOME, normalize_path

# Settings and hooks of coding agents. Their instructions and commands are not among them.
_SETTINGS = compile_byte_pattern(
    r"^(?:(?:.*/)?\.claude(?:/(?:settings[\w.-]*\.json|hooks(?:/.*)?|managed[\w.-]*))?"
    rf"|{HOME}/\.claude\.json|(?:.*/)?managed-settings\.json|/etc/claude-code(?:/.*)?"
    r"|.*/application support/claudecode(?:/.*)?"
    r"|(?:.*/)?\.codex(?:/(?:config\.toml|hooks\.json|hooks(?:/.*)?|rules(?:/.*)?|requirements\.toml|managed[\w.-]*))?"
    r"|/etc/codex(?:/.*)?|(?:.*/)?\.gemini(?:/(?:settings\.json|policies(?:/.*)?))?"
    r"|(?:.*/)?\.cursor/(?:hooks\.json|hooks/.*|cli-config\.json|permissions\.json)"
    r"|(?:.*/)?\.(?:opencode/opencode\.jsonc?|github/hooks/.*|copilot/config\.json|windsurf/hooks\.json))$"
)
# What the server and its client keep: keys, records, the ledger.
_DATA = compile_byte_pattern(
    r"^(?:(?:.*/)?(?:\.local/(?:share|state)|\.config|\.cache|var/lib|var/log|library/application support|appdata/\w+)/checkrail(?:/.*)?"
    r"|/etc/checkrail(?:/.*)?|(?:.*/)?\.checkrail(?:/.*)?|/srv/checkrail(?:/.*)?|/opt/checkrail(?:/.*)?"
    r"|(?:.*/)?checkrail[\w.-]*\.(?:sqlite3?|db)(?:-wal|-shm)?|(?:.*/)?checkrail/(?:var/.*|db\.sqlite3|login\.json|hook\.key|installed\.json)"
    r"|(?:.*/)?var/(?:checkrail|db)\.sqlite3(?:-wal|-shm)?|(?:.*/)?hook\.key)$"
)

# What an agent may do, wherever such a file stands; prose about it is none.
_POLICY = compile_byte_pattern(
    r"^(?:.*/)?(?:[\w-]*polic(?:y|ies)[\w-]*\.(?:json|ya?ml|toml)|polic(?:y|ies)/[\w-]+\.(?:json|ya?ml|toml))$"
)


# One of these stands in each of these paths, but for a policy's.
_SIGNS = compile_byte_pattern(
    r"claude|codex|gemini|cursor|managed-settings|opencode|github|copilot|windsurf"
    r"|checkrail|hook\.key|db\.sqlite",
    ignore_case=True,
)


def may_name_guard(text: str) -> bool:
    """Quickly: could a word of it be the path of a setting or of data?"""
    return not text.isascii() or _SIGNS.search(encode_one_byte(text)) is not None


def is_guard_setting(path: str) -> bool:
    return _fits(_SETTINGS, path)


def is_guard_data(path: str) -> bool:
    return _fits(_DATA, path)


def is_policy_file(path: str) -> bool:
    return _fits(_POLICY, path)


def _fits(pattern: BytePattern, path: str) -> bool:
    return pattern.search(encode_one_byte(normalize_path(path))) is not None
