"""Which finding of a call made a person be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidance.core.shell_commands.rules.rule import FAMILIES


def describe_asking_rule(content: Mapping[str, Any]) -> str:
    """The rule that asks, or its gate where it is no rule, as people say it."""
    return get_asking_rule(content).replace("_", " ")


def get_asking_rule(content: Mapping[str, Any]) -> str:
    """The same as the policy spells it."""
    asked = _get_asking_finding(content)
    return str(asked["details"].get("rule") or asked["gate"])


def get_asking_message(content: Mapping[str, Any]) -> str:
    """What it found, in a sentence."""
    return str(_get_asking_finding(content)["message"])


def asks_about_harm(content: Mapping[str, Any]) -> bool:
    return bool(_get_asking_finding(content)["gate"] in FAMILIES)


def _get_asking_finding(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first finding that needs a person; there is always one."""
    findings: list[Mapping[str, Any]] = content["findings"]
    return next(f for f in findings if f["decision"] == "require-confirmation")
