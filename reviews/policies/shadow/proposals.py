"""What a shadow proposes to change in its draft, from what was seen. Nothing is published
by it: each makes another draft, in which one thing is different."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from django.db.models import Count

from accounts.auth import PersonPrincipal
from common.errors import Invalid, Unchanged
from guidance.core.arguments import find_tool_problem
from guidance.core.number_format import format_amount
from guidance.core.policy import PolicyError, load_policy
from guidance.core.policy.differences import Difference, list_differences
from guidance.core.policy.drafts import (
    GATE_SETTINGS,
    allow_tools,
    copy_rule,
    copy_settings,
    decide_rule,
    has_same_rule,
)
from guidance.core.policy.meaning import is_only_wording, read_difference
from guidance.core.shell_commands.rules import RULES
from guidance.models import PolicyVersion
from guidance.selectors import find_version_in_force, get_policy
from reviews.models import PolicyShadow
from reviews.policies.selectors import read_document
from reviews.policies.services import create_version
from reviews.policies.shadow.selectors import list_items

# The most frequent ones; whoever needs more of them changes the draft in the editor.
MOST = 12
_STOPPED = {"gate": "allowlist", "after": "block"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """`count` decisions speak for it, those that `filters` find. It adds tools to the
    allowlist, or leaves a rule or the limits of a gate as they are in force: `names` are
    the tools, the rule, or the settings by their labels. `left_out` tools cannot be on an
    allowlist."""

    kind: Literal["tools", "rule", "limits"]
    key: str
    names: tuple[str, ...]
    count: int
    filters: Mapping[str, str]
    left_out: int = 0
    differences: tuple[Difference, ...] = ()
    decisions: tuple[str | None, str | None] = (None, None)

    def change(
        self, document: Mapping[str, Any], in_force: Mapping[str, Any]
    ) -> dict[str, Any]:
        match self.kind:
            case "tools":
                return allow_tools(document, self.names)
            case "rule":
                return copy_rule(document, in_force, self.names[0])
            case "limits":
                paths = [each.path for each in self.differences]
                return copy_settings(document, in_force, paths)

    def describe(self) -> str:
        """What was seen, for the history of the policy."""
        calls = format_amount(self.count, "call")
        match self.kind:
            case "tools":
                tools = format_amount(len(self.names) + self.left_out, "tool")
                left_out = f", {self.left_out:,} of them left out" * bool(self.left_out)
                return f"{calls} of {tools} not on the allowlist{left_out}"
            case "rule":
                return (
                    f"{calls} decided differently by {self.names[0]}, left as in force"
                )
            case "limits":
                decisions = format_amount(self.count, "decision")
                names, gate = ", ".join(self.names), self.filters["gate"]
                return (
                    f"{decisions} made differently by {gate}, left as in force: {names}"
                )


class Proposals:
    """All that a shadow proposes, the most frequent first."""

    def __init__(self, shadow: PolicyShadow) -> None:
        self.shadow = shadow
        self.in_force: PolicyVersion | None = find_version_in_force(
            project_id=shadow.project_id, name=shadow.policy.name
        )
        self.draft = read_document(shadow.version)
        self.now = read_document(self.in_force) if self.in_force else {}

    @cached_property
    def items(self) -> tuple[Proposal, ...]:
        found = [*self._list_tools(), *self._list_rules(), *self._list_limits()]
        return tuple(sorted(found, key=lambda each: (-each.count, each.key))[:MOST])

    def has_no_effect(self, proposals: Collection[Proposal]) -> bool:
        """The draft would say what is in force, and nothing else."""
        try:
            policy = load_policy(self.build_document(proposals))
        except PolicyError:
            return False  # whoever tries to store it is told what is wrong
        return (
            self.in_force is not None and policy == get_policy(self.in_force.pk).policy
        )

    def build_document(self, proposals: Collection[Proposal]) -> Mapping[str, Any]:
        document = self.draft
        for each in proposals:
            document = each.change(document, self.now)
        return document

    def _list_tools(self) -> Iterator[Proposal]:
        """A name that ends with a star would allow others as well: it is left out."""
        rows = list_items(self.shadow, **_STOPPED)
        named = rows.exclude(tool="").order_by("tool")
        seen = list(named.values_list("tool", flat=True).distinct())
        tools = [
            name for name in seen if "*" not in name and not find_tool_problem(name)
        ]
        if tools:
            yield Proposal(
                kind="tools",
                key="tools",
                names=tuple(tools),
                count=rows.count(),
                filters=_STOPPED,
                left_out=len(seen) - len(tools),
            )

    def _list_rules(self) -> Iterator[Proposal]:
        rows = self.shadow.items.filter(kind="call").exclude(move="").exclude(rule="")
        counted = rows.order_by().values("rule").annotate(count=Count("pk"))
        own = {
            each.get("name")
            for document in (self.draft, self.now)
            for each in (document.get("tools") or {}).get("patterns") or ()
        }
        for row in counted:
            rule = row["rule"]
            known = rule in RULES or rule in own
            if not known or has_same_rule(self.draft, self.now, rule):
                continue
            yield Proposal(
                kind="rule",
                key=f"rule:{rule}",
                names=(rule,),
                count=row["count"],
                filters={"kind": "call", "rule": rule},
                decisions=(decide_rule(self.draft, rule), decide_rule(self.now, rule)),
            )

    def _list_limits(self) -> Iterator[Proposal]:
        rows = self.shadow.items.exclude(move="").filter(gate__in=GATE_SETTINGS)
        counted = rows.order_by().values("gate").annotate(count=Count("pk"))
        changed = {
            each.path: each
            for each in list_differences(self.draft, self.now)
            if not is_only_wording(each)
        }
        for row in counted:
            gate = row["gate"]
            settings = [
                changed[path] for path in GATE_SETTINGS[gate] if path in changed
            ]
            if settings:
                yield Proposal(
                    kind="limits",
                    key=f"gate:{gate}",
                    names=tuple(_get_label(each) for each in settings),
                    count=row["count"],
                    filters={"gate": gate},
                    differences=tuple(settings),
                )


def create_draft(
    shadow: PolicyShadow, *, keys: Collection[str], person: PersonPrincipal
) -> PolicyVersion:
    """The shadow's draft with these proposals, as the next version, which binds nobody."""
    found = Proposals(shadow)
    chosen = [each for each in found.items if each.key in keys]
    if not chosen or len(chosen) < len(set(keys)):
        raise Invalid("That is not proposed any more: look at what is.")
    if found.has_no_effect(chosen):
        raise Unchanged(
            "The draft changes nothing else: it would say what is in force."
        )
    seen = "; ".join(each.describe() for each in chosen)
    outcome = create_version(
        project_id=shadow.project_id,
        name=shadow.policy.name,
        document=found.build_document(chosen),
        note=f"Seen in shadow of version {shadow.version.version}: {seen}.",
        author=person,
        based_on=found.in_force.version if found.in_force else None,
    )
    return outcome.version


def _get_label(difference: Difference) -> str:
    section, name = read_difference(difference).labels
    return f"{section} {name.lower()}" if section == "Budget" else name
