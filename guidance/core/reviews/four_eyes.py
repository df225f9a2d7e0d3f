"""How many people have to approve a review, and who of them counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from guidance.core.document_reader import Section
from guidance.core.reviews.section import declare_names
from guidance.core.settings import Known, declare, flag, whole, words_among
from guidance.core.shell_commands.rules.rule import SEVERITIES

# Lets something go on; any other ruling ends a review at once.
APPROVING = ("approve", "amend", "skip")
# A change of a policy has a second manager of its own, and a question is only answered.
_NEVER_ASKED = ("policy_change", "question")


def _read_labels(
    section: Section, key: str, _usual: object, _known: Known
) -> dict[str, str]:
    labels = section.read_free(key)
    for name, value in labels.items():
        if not isinstance(value, str):
            section.refuse(f"{key}.{name}", "must be a text")
    return {name: str(value) for name, value in labels.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class FourEyes:
    """What takes several people. A review does where one of `severity`, `rules` and
    `labels` fits it. `policy`: a version comes into force when a second manager approves
    it."""

    approvals: int = whole(
        2,
        "Approvals",
        "How many people approve a review to which one of the next three fits: never the "
        "owner of the agent, nor who has changed what is to run.",
        low=2,
        high=10,
        unit="people",
    )
    severity: tuple[str, ...] = words_among(
        (),
        "Severities that need them",
        "Reviews that are as severe as this.",
        among=SEVERITIES,
    )
    rules: tuple[str, ...] = declare_names(
        (),
        "Rules that need them",
        "Reviews that this rule or gate opened; a name, or its beginning and *.",
    )
    labels: Mapping[str, str] = declare(
        dict,
        "Labels that need them",
        "Reviews of runs with one of these labels.",
        read=_read_labels,
    )
    policy: bool = flag(
        False,
        "A second manager for policies",
        "Whether a version comes into force only when a second manager approves it.",
    )


class NotCounted(Exception):
    """An approval that does not count; says who has to give it instead."""


def count_needed(
    rules: FourEyes,
    *,
    kind: str,
    severity: str,
    names: Iterable[str],
    labels: Mapping[str, str],
) -> int:
    """How many people have to approve this review. `names` are the rules and the gates that
    asked, `labels` those of its run."""
    if kind in _NEVER_ASKED:
        return 1
    fits = (
        severity in rules.severity
        or any(_is_named(name, each) for name in names for each in rules.rules)
        or any(labels.get(name) == value for name, value in rules.labels.items())
    )
    return rules.approvals if fits else 1


def _is_named(name: str, given: str) -> bool:
    """By the whole name, or by its beginning and a star."""
    return name.startswith(given[:-1]) if given.endswith("*") else name == given


def count_approvals(
    *,
    action: str,
    by: str,
    approved_by: Collection[str],
    amended_by: Collection[str],
    owner: str | None,
) -> int:
    """How many approvals there are with this one: of different people, of whom none owns
    the agent or has changed what is to run. Raises NotCounted for one that may not count.
    """
    if by == owner:
        raise NotCounted("The owner of the agent does not approve what it asks.")
    if action == "amend":
        return 0  # what is to run is another thing now
    if by in amended_by:
        raise NotCounted("Who has changed what is to run does not approve it as well.")
    if by in approved_by:
        raise NotCounted("You have approved this already.")
    return len({*approved_by} - {owner, *amended_by}) + 1
