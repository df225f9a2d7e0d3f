"""The conditions of rules about other machines and other people's code."""

from __future__ import annotations

import re

from guidance.core.shell_commands.rules.families.remote_reading import is_only_looking
from guidance.core.shell_commands.rules.families.system_questions import find_method
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule

_ADDRESS = re.compile(
    r"(?:[\w.-]+\s*@\s*)?(?:git\+|hg\+|svn\+)\S+|(?:https?|ftp|git|ssh)://\S+|git@\S+"
    r"|(?:github|gitlab|bitbucket|gist|git):\S+|git::\S+|[\w.-]+@(?:https?|git)\S+|/dev/fd/\S*",
    re.I,
)
# Registries, and what their own documentation tells people to use.
_KNOWN = re.compile(
    r"https?://(?:[\w.-]+\.)?(?:pypi\.org|pythonhosted\.org|pytorch\.org|npmjs\.org|npmjs\.com|yarnpkg\.com"
    r"|rubygems\.org|crates\.io|deno\.land|jsr\.io|esm\.sh|conda\.anaconda\.org|anaconda\.org|nvidia\.com"
    r"|localhost|127\.0\.0\.1|astral\.sh)(?::\d+)?(?:/|$|\S*)"
    r"|https?://localhost\S*|https?://127\.\S*",
    re.I,
)
_INDEXES = (
    "-i",
    "--index-url",
    "--extra-index-url",
    "--index",
    "--default-index",
    "--trusted-host",
    "-f",
    "--find-links",
    "--source",
    "-s",
    "-c",
    "--channel",
)
# Their -i, -f and -s mean something else.
_WITHOUT_INDEX = ("kubectl", "helm", "apt", "rpm", "dpkg", "yum", "dnf", "apk")
# They take an address in the middle of an option, too.
_LOADERS = (
    *("mshta", "regsvr32", "rundll32", "msiexec", "installutil", "wscript", "cscript"),
)
# They run one package, and give it everything that comes after its name.
_RUNNERS = ("npx", "bunx", "pnpx", "uvx")
_PACKAGE = ("-p", "--package", "--from", "--with", "--spec")
_VERBS = ("run", "exec", "dlx", "x")
_MODULES = re.compile(
    r"(?:github\.com|gitlab\.com|golang\.org|google\.golang\.org|gopkg\.in|go\.uber\.org|k8s\.io|sigs\.k8s\.io"
    r"|honnef\.co|mvdan\.cc|modernc\.org|cloud\.google\.com|entgo\.io|connectrpc\.com|gotest\.tools|buf\.build)/.*"
)
_MODULE = re.compile(r"[\w.-]+\.[\w-]+/\S*")
_PRODUCTION = re.compile(
    r"(?:.*[-_/.@])?(?:prod|production|prd|live)(?:[-_/.].*)?", re.I
)
# `commands=["uptime","df -h"]`, `commands=uptime`, `{"commands":["uptime"]}`.
_COMMANDS = re.compile(
    r"[\"']?\bcommands[\"']?\s*[=:]\s*(\[[^\[\]]*\]|[^\[\]{}]*)\s*\}?", re.DOTALL
)
_EACH = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s,\[\]\"'][^,\[\]\"']*)")
_DEPLOYS = re.compile(r"deploy|release|publish|prod|rollout|migrate", re.I)
_FREE = ("shell", "command", "raw", "script", "expect")
_CHANGING = re.compile(
    r"cmd\.(?:run|script|exec|shell)\w*|state\.(?:apply|highstate|sls)"
    r"|(?:service|pkg|system|file|user|docker)\."
    r"(?:restart|stop|start|install|remove|upgrade|reboot|shutdown|write|add)\w*"
)
_FAR_DAEMON = re.compile(
    r"(?:-H|--host|--url)[ =]?(?:tcp|ssh|https?)://(?!localhost|127\.|\[::1\])"
)
_EVERYBODY = re.compile(r"(?:0\.0\.0\.0|\[?::\]?|\*)(?::\d+)?")
_OPEN_TUNNEL = re.compile(
    r"(?:-[A-Za-z]*[DL])?(?:0\.0\.0\.0|\[::\]|\*):\d+(?::\S*)?|GatewayPorts=(?:yes|clientspecified)",
    re.IGNORECASE,
)
_IMAGE = re.compile(
    r"([\w-]{1,60}(?:\.[\w-]{1,60}){1,6})(?::\d+)?/[\w./-]+(?::[\w.-]+)?(?:@sha256:\w+)?"
)
_REGISTRY = re.compile(
    r"(?:.*\.)?(?:docker\.(?:io|com)|ghcr\.io|quay\.io|gcr\.io|pkg\.dev|azurecr\.io|amazonaws\.com|ecr\.aws"
    r"|gitlab\.com|github\.com|k8s\.io|microsoft\.com|nvcr\.io|elastic\.co|redhat\.(?:com|io)|cgr\.dev|jfrog\.io|lscr\.io"
    r"|icr\.io|ocir\.io|digitalocean\.com|fly\.io|heroku\.com|n8n\.io|local|localhost|test|internal|svc)",
    re.IGNORECASE,
)


def _comes_from_address(found: Invocation) -> bool:
    if found.name in _LOADERS:
        return any("://" in word or word[:2] == "\\\\" for word in found.argv)
    if found.name in _RUNNERS:
        return any(
            _ADDRESS.fullmatch(word) and not _KNOWN.fullmatch(word)
            for word in _list_packages(found.argv)
        )
    words = [word for word in found.argv[1:] if _ADDRESS.fullmatch(word)]
    words += [
        value
        for word in found.argv[1:]
        if word.startswith("-")
        and "=" in word
        and _ADDRESS.fullmatch(value := word.partition("=")[2])
    ]
    indexes = {
        found.argv[index + 1]
        for index in range(1, len(found.argv) - 1)
        if found.argv[index] in _INDEXES and found.name not in _WITHOUT_INDEX
    }
    return any(word not in indexes and not _KNOWN.fullmatch(word) for word in words)


def _list_packages(argv: list[str]) -> list[str]:
    """The package that is run, and those named by options; the rest are its arguments."""
    packages = []
    for place, word in enumerate(argv[1:], 1):
        name, equals, value = word.partition("=")
        if name in _PACKAGE:
            packages.append(value if equals else "".join(argv[place + 1 : place + 2]))
        elif word[:1] != "-" and argv[place - 1] not in _PACKAGE and word not in _VERBS:
            return [*packages, word]
    return packages


def _uses_foreign_index(found: Invocation) -> bool:
    for index, word in enumerate(found.argv):
        name, equals, value = word.partition("=")
        if name not in _INDEXES:
            continue
        given = (
            value
            if equals
            else (found.argv[index + 1] if index + 1 < len(found.argv) else "")
        )
        if name == "--trusted-host" or (
            _ADDRESS.fullmatch(given) is not None and not _KNOWN.fullmatch(given)
        ):
            return True
    return False


def _is_foreign_module(found: Invocation) -> bool:
    return any(
        _MODULE.fullmatch(word) and not _MODULES.fullmatch(word) and "@" in word
        for word in found.operands[1:]
    )


def _changes_machines(found: Invocation) -> bool:
    """Free commands; modules that say what should be are judged by their own rules."""
    if found.name != "ansible":
        return any(map(_CHANGING.fullmatch, found.operands[1:]))
    modules = set()
    for index, word in enumerate(found.argv):
        name, equals, value = word.partition("=")
        if name in ("-m", "--module-name"):
            following = "".join(found.argv[index + 1 : index + 2])
            modules.add((value if equals else following).rpartition(".")[2])
    if modules:
        return not modules.isdisjoint(_FREE)
    return not {"-a", "--args"}.isdisjoint(found.argv)


def _is_production(found: Invocation) -> bool:
    before = found.argv[: found.argv.index("--")] if "--" in found.argv else found.argv
    values = [word.rpartition("=")[2] for word in before]
    return any(map(_PRODUCTION.fullmatch, values))


def _deploys(found: Invocation) -> bool:
    return any(map(_DEPLOYS.search, found.argv[2:]))


def _dispatches(found: Invocation) -> bool:
    return find_method(found) == "POST" and any(
        "dispatches" in word for word in found.operands
    )


def _names_computer(found: Invocation) -> bool:
    return any(
        re.fullmatch(r"-(?:computername|cn|hostname|session|vmname)", word, re.I)
        for word in found.argv
    )


def _names_node(found: Invocation) -> bool:
    return any(word.lower().startswith("/node:") for word in found.argv)


def _names_source(found: Invocation) -> bool:
    return any(
        re.fullmatch(r"-(?:source|repository|sourcelocation)", word, re.I)
        for word in found.argv
    )


def _listens_to_all(found: Invocation) -> bool:
    return any(_EVERYBODY.fullmatch(word.rpartition("=")[2]) for word in found.argv[1:])


def _tunnels_for_all(found: Invocation) -> bool:
    """-D 0.0.0.0:1080 and -L *:5432:db:5432: whoever reaches this machine gets through."""
    forwards = any(flag in found.flags for flag in ("-D", "-L"))
    return forwards and (
        "-g" in found.flags or any(map(_OPEN_TUNNEL.fullmatch, found.argv[1:]))
    )


def _commands_far_daemon(found: Invocation) -> bool:
    """Something is changed through the daemon of another machine."""
    return _FAR_DAEMON.search(" ".join(found.argv)) is not None


def _is_unknown_registry(found: Invocation) -> bool:
    """An image from a host that is none of those everybody takes images from."""
    return any(
        (image := _IMAGE.fullmatch(word)) is not None
        and _REGISTRY.fullmatch(image[1]) is None
        for word in found.operands[1:]
    )


def _sends_change(found: Invocation) -> bool:
    """Commands for other machines, unless all of them are written out and only look."""
    words = found.argv
    if words[:-1].count("--parameters") != 1 or "--targets" in words:
        # Not written out, or for machines that only a tag picks.
        return True
    given = _COMMANDS.search(words[words.index("--parameters") + 1])
    if given is None:
        return True
    commands = [
        first or second or third for first, second, third in _EACH.findall(given[1])
    ]
    return not commands or not all(
        is_only_looking(command) and not any(map(find_secret_rule, command.split()))
        for command in commands
    )


QUESTIONS: dict[str, Question] = {
    "sends-change": _sends_change,
    "unknown-registry": _is_unknown_registry,
    "changes-machines": _changes_machines,
    "any-flag-computer": _names_computer,
    "any-flag-source": _names_source,
    "deploys": _deploys,
    "dispatches": _dispatches,
    "far-daemon": _commands_far_daemon,
    "foreign-index": _uses_foreign_index,
    "foreign-module": _is_foreign_module,
    "from-address": _comes_from_address,
    "listens-to-all": _listens_to_all,
    "production": _is_production,
    "remote-node": _names_node,
    "tunnels-for-all": _tunnels_for_all,
}
