"""A version of a policy that waits for a second manager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from console.policies.changes import ShownChange, build_changes
from console.queue.kinds.base import Button, NoteBox, ReviewKind, Subject
from guidance.core.policy.differences import Difference
from reviews.models import Backtest
from reviews.policies.backtest.sentences import describe_result
from safetext import make_visible, make_visible_line

CHIP_LIMIT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange:
    """What would be in force, why, what it changes, and what a backtest of it found when
    it was asked for, in words; `tried` is empty where there was none. It `is_own` for
    whoever wrote it or asked for it."""

    policy: str
    version: int
    situation: str
    note: str
    changes: tuple[ShownChange, ...]
    tried: tuple[str, ...]
    backtest: str
    address: str
    diff: str
    asked_by: str
    is_own: bool


class PolicyChangeKind(ReviewKind[PolicyChange]):
    icon: ClassVar[str] = "flag"
    word: ClassVar[str] = "Policy change"
    nouns: ClassVar[tuple[str, str]] = ("policy change", "policy changes")
    hint: ClassVar[str] = (
        "Approve puts this version in force; deny, and it stays a draft. A manager who "
        "did not write or ask for it decides."
    )
    own_hint: ClassVar[str] = (
        "You wrote it or asked for it, so another manager has to approve it. Deny, and "
        "it stays a draft."
    )
    template: ClassVar[str] = "console/queue/kinds/_policy_change.html"
    is_about_work: ClassVar[bool] = False

    def build_chip(self, content: Mapping[str, Any]) -> str:
        named = f"{content['policy']}, version {content['version']}"
        return make_visible_line(named, limit=CHIP_LIMIT)

    def build_body(self, subject: Subject) -> PolicyChange:
        content = subject.content
        slug, name = subject.review.project.slug, content["policy"]
        # Reviews from before it was recorded have none.
        found = content.get("backtest")
        number, before = content["version"], content["before"]
        people = _list_people(content)
        asked_by = people.get(content["requested_by"])
        own = {person.pk for person in people.values()}
        compare = reverse("console:policy-compare", args=[slug, name])
        pair = urlencode({"from": before or number, "to": number})
        return PolicyChange(
            policy=make_visible_line(name),
            version=number,
            situation=_describe_situation(before, running=content["apply_to_running"]),
            note=make_visible(content["note"]),
            changes=build_changes(map(_read_difference, content["changes"])),
            tried=tuple(describe_result(found)) if found else (),
            backtest=_build_backtest_address(slug, found),
            address=reverse("console:policy-version", args=[slug, name, number]),
            diff=f"{compare}?{pair}" if before else "",
            asked_by=make_visible_line(asked_by.display_name) if asked_by else "",
            is_own=subject.viewer_id in own,
        )

    def build_headline(self, subject: Subject, body: PolicyChange) -> SafeString:
        if not body.asked_by:
            return format_html("A second manager decides.")
        return format_html(
            "<b>{}</b> asks for it, and a second manager decides.", body.asked_by
        )

    def build_hint(self, subject: Subject, body: PolicyChange) -> str:
        return self.own_hint if body.is_own else self.hint

    def build_note_box(self, subject: Subject, body: PolicyChange) -> NoteBox:
        return NoteBox(
            label="Note",
            placeholder="Why, for the history of the policy and the ledger.",
        )

    def list_buttons(self, subject: Subject, body: PolicyChange) -> list[Button]:
        return [
            replace(button, disabled=body.is_own and button.action == "approve")
            for button in super().list_buttons(subject, body)
        ]


def _list_people(content: Mapping[str, Any]) -> dict[str, User]:
    """Who asked for it and who wrote it, by the name that entries have for them."""
    actors = {content["requested_by"], content["author"]}
    codes = [
        actor.removeprefix("user:")
        for actor in actors
        if actor and actor.startswith("user:")
    ]
    return {f"user:{user.code}": user for user in User.objects.filter(code__in=codes)}


def _describe_situation(before: int | None, *, running: bool) -> str:
    """What is in force now, and whom the change is for."""
    said = (
        f"In force now: version {before}." if before else "No version is in force yet."
    )
    return f"{said} Runs in progress go on under the new one." if running else said


def _read_difference(each: Mapping[str, Any]) -> Difference:
    parts = {name: each[name] for name in ("path", "change", "before", "after")}
    return Difference(**parts)


def _build_backtest_address(slug: str, found: Mapping[str, Any] | None) -> str:
    """Empty where it is gone: only the newest ones of a project are kept."""
    if found is None or not Backtest.objects.filter(code=found["id"]).exists():
        return ""
    return reverse("console:backtest", args=[slug, found["id"]])
