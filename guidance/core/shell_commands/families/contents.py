"""Texts that are written to files which others run: builds, hooks, opened folders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.sensitive.secret_paths import normalize_path

_BUILD_FILE = re.compile(
    r"(?:.*/)?(?:makefile|gnumakefile|justfile|rakefile|taskfile\.ya?ml|package\.json|tox\.ini|noxfile\.py"
    r"|\.gitlab-ci\.ya?ml|jenkinsfile|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|\.travis\.ya?ml|\.drone\.ya?ml"
    r"|devcontainer\.json|\.pre-commit-config\.ya?ml|\.envrc|tasks\.json|launch\.json|setup\.py|conftest\.py|cloudbuild\.ya?ml)"
    r"|(?:.*/)?\.(?:github/(?:workflows|actions)|circleci|buildkite|husky|woodpecker)/.*|(?:.*/)?\.git/hooks/.*"
)
_DOWNLOAD_RUN = compile_byte_pattern(
    r"(?:curl|wget|iwr|invoke-webrequest)\b[^\n|;&]{0,300}\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|da|k)?sh\b"
    r"|(?:curl|wget)\b[^\n|;&]{0,300}\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby|php)\b"
    r"|(?:ba|z|da)?sh\s+(?:-c\s+)?[\"']?(?:<|\$)\((?:curl|wget)\b|eval\s+[\"']?\$\((?:curl|wget)\b"
    r"|(?:iex|invoke-expression)\b[^\n]{0,80}(?:iwr|downloadstring|invoke-webrequest)",
    ignore_case=True,
)
_OPENED_FOLDER = compile_byte_pattern(r"folderOpen|runOn[\"']?\s*:", ignore_case=True)


# The whole environment, or all secrets of a build, and a way out beside them.
_ALL_SECRETS = compile_byte_pattern(
    r"stringify\(\s*process\.env\s*\)|dict\(\s*os\.environ\s*\)|json\s*=\s*(?:dict\()?os\.environ"
    r"|tojson\(\s*secrets\s*\)|dumps\(\s*dict\(os\.environ|env\s*\|\s*(?:base64|curl|nc)\b|printenv\s*\|",
    ignore_case=True,
)
_WAY_OUT = compile_byte_pattern(
    r"\b(?:curl|wget|nc|fetch|axios|urlopen|requests|httpx|http\.request|xmlhttprequest|sendbeacon|post)\b",
    ignore_case=True,
)
_CODE_FILE = re.compile(
    _BUILD_FILE.pattern
    + r"|.*\.(?:py|js|mjs|cjs|ts|tsx|jsx|rb|php|pl|sh|bash|go|rs|java|kt|ya?ml|json|ps1)"
)
_TELLING = ("environ", "process.env", "secrets", "curl", "wget", "folderOpen", "iwr")
_LONG = 16_384
_LONGEST_PATH = 400
_PROSE = re.compile(r".*\.(?:md|rst|txt|adoc|html)")


def may_hold_rules(path: str, script: str) -> bool:
    """Quickly: is it worth finding out what a script puts into this file?"""
    if len(path) > _LONGEST_PATH or not _CODE_FILE.fullmatch(normalize_path(path)):
        return False
    # Looking through a long script for every file that it writes takes longer.
    return len(script) > _LONG or any(word in script for word in _TELLING)


def list_content_rules(path: str, text: str) -> Iterator[str]:
    """Which rules a text breaks that is put into this file."""
    name = normalize_path(path[-1_000:])
    if _PROSE.fullmatch(name):
        return
    data = encode_one_byte(text)
    if _ALL_SECRETS.search(data) and _WAY_OUT.search(data):
        yield "exfil-secret"
    if _BUILD_FILE.fullmatch(name) is None:
        return
    if _DOWNLOAD_RUN.search(data):
        yield "remote-build-step"
    if name.endswith("tasks.json") and _OPENED_FOLDER.search(data):
        yield "persist-hook"
