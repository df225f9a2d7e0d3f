"""Texts that are written to files which others run: builds, hooks, opened folders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.families.guard.texts import answers_review
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
# Files that say what a container or a cluster starts.
_MANIFEST_FILE = re.compile(
    r"(?:.*/)?(?:docker-)?compose[\w.-]*\.ya?ml|(?:.*/)?(?:k8s|kubernetes|manifests|deploy|charts?|helm|templates)/.*\.ya?ml"
    r"|(?:.*/)?devcontainer\.json"
)
# Containers with the rights of the machine that they run on.
_HOST_RIGHTS = compile_byte_pattern(
    r"\bprivileged[\"']?\s*:\s*[\"']?true|\bhost(?:PID|IPC)[\"']?\s*:\s*true|\bpid[\"']?\s*:\s*[\"']?host\b"
    r"|[\"'\s]/:/|hostPath:\s*\{?\s*path:\s*[\"']?/[\"']?\s*[}\n,]|\bSYS_ADMIN\b|--privileged\b"
)
_LASTING_KIND = compile_byte_pattern(r"kind[\"']?\s*:\s*[\"']?(?:CronJob|DaemonSet)\b")
_WORKFLOW_FILE = re.compile(r"(?:.*/)?\.github/workflows/[^/]+\.ya?ml")
# Builds of strangers' changes that get the rights of the repository.
_STRANGERS = compile_byte_pattern(r"\bpull_request_target\b|\bworkflow_run\b")
_WRITE_RIGHTS = compile_byte_pattern(
    r"permissions\s*:\s*write-all|\b(?:contents|id-token|packages|actions)\s*:\s*write\b"
    r"|github\.event\.pull_request\.head|github\.head_ref"
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
# Files whose steps people run on their own machine, and a step that goes beyond it.
_STEPS_FILE = re.compile(
    r"(?:.*/)?(?:(?:gnu)?makefile|justfile|package\.json|composer\.json|taskfile\.ya?ml|rakefile|tox\.ini)"
)
_DELETES_OUTSIDE = compile_byte_pattern(
    r"\brm\s+(?:-\S+\s+){0,3}-\w*[rR]\S*\s+(?:[^\s;&|]+\s+){0,6}?"
    r"(?:/(?:$|[^t\s]|t[^m])|~|\.\./|\$\{?HOME)"
)
_TELLING = compile_byte_pattern(
    r"rm |ruling|checkrail|privileged|pull_request_target|SYS_ADMIN|host"
    r"|environ|process\.env|secrets|curl|wget|folderOpen|iwr"
)
_LONG = 16_384
_PROSE = re.compile(r".*\.(?:md|rst|txt|adoc|html)")


def may_hold_rules(path: str, script: str) -> bool:
    """Quickly: is it worth finding out what a script puts into this file?"""
    if not _CODE_FILE.fullmatch(normalize_path(path)):
        return False
    # Looking through a long script for every file that it writes takes longer.
    return len(script) > _LONG or _TELLING.search(encode_one_byte(script)) is not None


def list_content_rules(path: str, text: str) -> Iterator[str]:
    """Which rules a text breaks that is put into this file."""
    name = normalize_path(path)
    if _PROSE.fullmatch(name):
        return
    if answers_review(text):
        yield "guard-ruling"
    data = encode_one_byte(text)
    if _ALL_SECRETS.search(data) and _WAY_OUT.search(data):
        yield "exfil-secret"
    if _MANIFEST_FILE.fullmatch(name) and _HOST_RIGHTS.search(data):
        yield "privilege-container"
    if (
        _WORKFLOW_FILE.fullmatch(name)
        and _STRANGERS.search(data)
        and _WRITE_RIGHTS.search(data)
    ):
        yield "privilege-grant"
    if _STEPS_FILE.fullmatch(name) and _DELETES_OUTSIDE.search(data):
        yield "delete-folder"
    if _BUILD_FILE.fullmatch(name) is None:
        return
    if _DOWNLOAD_RUN.search(data):
        yield "remote-build-step"
    if name.endswith("tasks.json") and _OPENED_FOLDER.search(data):
        yield "persist-hook"


def list_manifest_rules(text: str) -> Iterator[str]:
    """Which rules a text breaks that a cluster is given to run."""
    data = encode_one_byte(text)
    if _LASTING_KIND.search(data):
        yield "persist-schedule"
    if _HOST_RIGHTS.search(data):
        yield "privilege-container"
