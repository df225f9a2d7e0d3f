"""What a shadow proposes to change in its draft, as its page shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from console.format import format_count
from console.policies.tool_rules import DECISIONS
from guidance.core.policy.meaning import format_value, read_difference
from reviews.models import PolicyShadow
from reviews.policies.shadow.proposals import Proposal, Proposals
from safetext import make_visible_line

# So many tools are named; the draft's own page has all.
NAMES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRow:
    """`seen` is what speaks for it, and its list; `because` goes on from there. Where
    `has_no_effect`, the draft would only say what is in force."""

    key: str
    title: str
    seen: str
    address: str
    because: str
    names: tuple[str, ...]
    more: int
    has_no_effect: bool


def list_proposal_rows(
    shadow: PolicyShadow, link: Callable[..., str]
) -> tuple[ProposalRow, ...]:
    found = Proposals(shadow)
    return tuple(
        _build_row(each, link, has_no_effect=found.has_no_effect([each]))
        for each in found.items
    )


def _build_row(
    proposal: Proposal, link: Callable[..., str], *, has_no_effect: bool
) -> ProposalRow:
    names = tuple(make_visible_line(each) for each in proposal.names)
    noun = "decision" if proposal.kind == "limits" else "call"
    shown: tuple[str, ...] = ()
    match proposal.kind:
        case "tools":
            tools = "the tool" if len(names) == 1 else f"the {len(names):,} tools"
            title = f"Add {tools} seen to the allowlist"
            because = "would be stopped, as the tool is not on the draft’s allowlist."
            if proposal.left_out:
                left_out = format_count(proposal.left_out, "name")
                because += f" {left_out} cannot be on one."
            shown = names[:NAMES]
        case "rule":
            title = f"Leave {names[0]} as it is in force"
            draft, now = (_describe_decision(each) for each in proposal.decisions)
            because = f"decided differently by this rule: {now} in force, {draft} in the draft."
        case _:
            title = f"Leave {' and '.join(names)} as in force"
            gate = proposal.filters["gate"]
            because = (
                f"made differently by the gate {gate}: {_describe_limits(proposal)}."
            )
    return ProposalRow(
        key=proposal.key,
        title=title,
        seen=format_count(proposal.count, noun),
        address=link(**proposal.filters),
        because=because,
        names=shown,
        more=len(names) - len(shown) if shown else 0,
        has_no_effect=has_no_effect,
    )


def _describe_limits(proposal: Proposal) -> str:
    said = []
    for name, difference in zip(proposal.names, proposal.differences, strict=True):
        change = read_difference(difference)
        unit = change.schema.get("x-unit", "")
        draft, now = (
            format_value(each, unit) for each in (change.before, change.after)
        )
        label = f"{name} " if len(proposal.names) > 1 else ""
        said.append(f"{label}{now} in force, {draft} in the draft")
    return "; ".join(said)


def _describe_decision(decision: str | None) -> str:
    return DECISIONS[decision][0] if decision else "absent"
