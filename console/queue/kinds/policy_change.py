"""A version of a policy that waits for a second manager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.queue.kinds.base import ReviewKind, Subject
from safetext import make_visible, make_visible_line

CHIP_LIMIT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """What would be in force, why, and what it changes, in words."""

    policy: str
    version: int
    before: str
    note: str
    changes: tuple[str, ...]
    running: bool


class PolicyChangeKind(ReviewKind[PolicyChange]):
    icon: ClassVar[str] = "flag"
    word: ClassVar[str] = "Policy change"
    nouns: ClassVar[tuple[str, str]] = ("policy change", "policy changes")
    hint: ClassVar[str] = (
        "Approve puts this version in force; deny, and it stays a draft. A manager who "
        "did not write or ask for it decides."
    )
    template: ClassVar[str] = "console/queue/kinds/_policy_change.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        named = f"{content['policy']}, version {content['version']}"
        return make_visible_line(named, limit=CHIP_LIMIT)

    def build_body(self, subject: Subject) -> PolicyChange:
        content = subject.content
        before = content["before"]
        return PolicyChange(
            policy=make_visible_line(content["policy"]),
            version=content["version"],
            before="" if before is None else f"version {before}",
            note=make_visible(content["note"]),
            changes=tuple(
                make_visible_line(each["meaning"]) for each in content["changes"]
            ),
            running=content["apply_to_running"],
        )

    def build_headline(self, subject: Subject, body: PolicyChange) -> SafeString:
        return format_html(
            "Put version {} of the policy <b>{}</b> in force?",
            body.version,
            body.policy,
        )
