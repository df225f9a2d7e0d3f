"""The conditions that the patterns of the families name."""

from __future__ import annotations

import re

from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.sensitive.secret_names import is_secret_name

_ENVIRONMENT = re.compile(r"\.env\b|config\.env|json \.config|environment", re.I)
_KEY_MANAGER = re.compile(r"keymgr|vaultcli|dpapi", re.I)
_CREDENTIALS = re.compile(r"cred|passw|secret|token", re.I)
_HIVES = re.compile(r"hklm\\(?:sam|security|system)\b", re.I)
_VALUES = re.compile(
    r"\.data|go-template|\.stringdata|^(?:json|ya?ml)$|^jsonpath=?\{\.?\}$", re.I
)


def _has_no_operand(found: Invocation) -> bool:
    return not found.operands


def _has_operand_after_verb(found: Invocation) -> bool:
    return len(found.operands) > 1


def _names_secret(found: Invocation) -> bool:
    return any(
        is_secret_name(part)
        for word in found.operands
        for part in (word, word.rpartition(":")[2].strip("_"), word.replace(".*", "."))
    )


def _shows_key(found: Invocation) -> bool:
    """Prints a private key, or writes it anew; checking one does neither."""
    if found.has_any(("-pubout", "-check")) or "-pubin" in found.flags:
        return False
    return "-noout" not in found.flags or found.has_any(("-text",))


def _shows_values(found: Invocation) -> bool:
    """kubectl with the data in its output."""
    output = found.flags.get("-o") or found.flags.get("--output") or ""
    for word in found.argv:
        if word.startswith("-o") and len(word) > 2:
            output = word[2:].lstrip("=")
    if "describe" in found.operands[:1]:
        return False
    return _VALUES.search(output) is not None or bool(
        found.has_any(("--template",)) and "data" in found.flags.get("--template", "")
    )


def _shows_secrets(found: Invocation) -> bool:
    if found.name == "nmcli":
        return found.has_any(("-s", "--show-secrets"))
    named = found.operands[1:]
    if not named:
        # All of them, where secrets are not hidden; what comes of it is asked later.
        return found.has_any(("-json", "--json"))
    return any(is_secret_name(name) for name in named)


def _prints_environment(found: Invocation) -> bool:
    if found.name == "docker" and found.operands[:1] == ["inspect"]:
        asked = found.flags.get("-f") or found.flags.get("--format") or ""
        asked += " ".join(word for word in found.argv if "{{" in word)
        return _ENVIRONMENT.search(asked) is not None
    if found.operands[:2] == ["compose", "config"]:
        return not found.has_any(
            (
                "--services",
                "--volumes",
                "--images",
                "--profiles",
                "-q",
                "--quiet",
                "--hash",
            )
        )
    return bool({"env", "printenv"} & set(found.operands[-1:]))


def _is_account_hive(found: Invocation) -> bool:
    return any(_HIVES.match(word) for word in found.argv)


def _dumps_memory(found: Invocation) -> bool:
    return any("comsvcs" in word.lower() for word in found.argv)


def _opens_key_manager(found: Invocation) -> bool:
    return any(map(_KEY_MANAGER.search, found.argv[1:]))


def _names_credentials(found: Invocation) -> bool:
    return any(map(_CREDENTIALS.search, found.argv[1:]))


QUESTIONS: dict[str, Question] = {
    "account-hive": _is_account_hive,
    "any-secret": _has_operand_after_verb,
    "dumps-memory": _dumps_memory,
    "names-credentials": _names_credentials,
    "names-secret": _names_secret,
    "no-operand": _has_no_operand,
    "opens-key-manager": _opens_key_manager,
    "prints-environment": _prints_environment,
    "shows-key": _shows_key,
    "shows-secrets": _shows_secrets,
    "shows-values": _shows_values,
}
