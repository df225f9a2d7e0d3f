"""What the queue asks a kind of review for: its row, its part of the detail, its words.

A kind is one module beside this one, one partial under `templates/console/queue/kinds/`
and one line in `KINDS` (`__init__.py`). Nothing else in `console/queue/` names a kind;
which kinds come first in the queue is in `reviews/queue/order.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from console.queue.allowances.offer import AllowanceOffer
from console.runs.summary import RunFacts
from ledger.models import Entry
from reviews.models import Review

TASK_LIMIT = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A review, and what was read with it. `page` is asked for, `rulings` are offered."""

    review: Review
    content: Mapping[str, Any]
    run: RunFacts
    steps: Sequence[Entry]
    viewer_id: int
    page: int
    rulings: tuple[str, ...]

    @property
    def closed(self) -> bool:
        return self.review.closed_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """One way to rule. With `needs_note` nothing is sent before a note is written. It is
    `disabled` for whom it would be refused: the hint says why."""

    action: str
    label: str
    icon: str
    key: str
    primary: bool = False
    needs_note: bool = False
    disabled: bool = False
    # Said where the reason is missing, and where the key is to be pressed once more.
    why: str = ""
    twice: str = ""

    @property
    def letter(self) -> str:
        return self.key.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteBox:
    """The field in which a person writes before they rule; `alone` keeps only a note."""

    label: str = "Note to the agent"
    placeholder: str = (
        "A note, sent to the agent with your decision and kept in the ledger."
    )
    alone: str = "Add note only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Of a body that is too long for one page: what is shown, and what was."""

    page: int = 0
    served: int = 1
    unread: str = ""


_BUTTONS = {
    "answer": Button(
        action="answer",
        label="Answer",
        icon="check",
        key="a",
        primary=True,
        needs_note=True,
    ),
    "approve": Button(
        action="approve", label="Approve", icon="check", key="a", primary=True
    ),
    "deny": Button(action="deny", label="Deny", icon="x", key="d"),
    "retry": Button(
        action="retry",
        label="Retry with guidance",
        icon="retry",
        key="r",
        primary=True,
    ),
    "skip": Button(
        action="skip", label="Skip gate", icon="skip", key="s", needs_note=True
    ),
}

B = TypeVar("B")


class ReviewKind(ABC, Generic[B]):
    """`B` is what the partial shows, as `body`. Templates that are empty show nothing."""

    icon: ClassVar[str]
    # In the detail, while the review is open.
    word: ClassVar[str]
    # One and several.
    nouns: ClassVar[tuple[str, str]]
    hint: ClassVar[str] = ""
    # Said of an approval that allows nothing beforehand, where it could.
    says_once: ClassVar[str] = ""
    template: ClassVar[str]
    buttons_template: ClassVar[str] = "console/queue/_buttons.html"
    properties_template: ClassVar[str] = ""
    dialog_template: ClassVar[str] = ""
    # Whether a person may change what they let run, and have it remembered.
    is_amendable: ClassVar[bool] = False
    # Whether it is about the work of an agent, whose task and use are then beside it.
    is_about_work: ClassVar[bool] = True
    # Whether the last step that is listed is the one that led to it.
    is_about_last_step: ClassVar[bool] = False

    @abstractmethod
    def build_chip(self, content: Mapping[str, Any]) -> str:
        """What led to it, in a word or two: for its row."""

    def build_fold_title(self, review: Review, content: Mapping[str, Any]) -> str:
        """What several that are alike have in common, of which this is the first."""
        return review.title

    def get_tone(self, content: Mapping[str, Any]) -> str:
        """What can destroy something is red (`stop`); everything else only waits."""
        return "pause"

    def is_rising(self, content: Mapping[str, Any]) -> bool:
        """Whether the spend that its row draws is what led to it."""
        return False

    @abstractmethod
    def build_body(self, subject: Subject) -> B:
        """What its partial shows."""

    @abstractmethod
    def build_headline(self, subject: Subject, body: B) -> SafeString:
        """Who wants what, in one sentence."""

    def build_hint(self, subject: Subject, body: B) -> str:
        """What each choice means."""
        return self.hint

    def build_note_box(self, subject: Subject, body: B) -> NoteBox:
        return NoteBox()

    def list_buttons(self, subject: Subject, body: B) -> list[Button]:
        """Beside aborting the run, which asks first."""
        return [_BUTTONS[name] for name in subject.rulings if name in _BUTTONS]

    def parse_changes(self, review: Review, typed: QueryDict) -> dict[str, Any] | None:
        """What was changed of it where it stands, as a ruling takes it; None: nothing."""
        return None

    def build_allowance_offer(self, subject: Subject) -> AllowanceOffer | None:
        """What may be allowed beforehand with an approval; None where nothing may."""
        return None

    def get_progress(self, body: B) -> Progress:
        return Progress()

    def count_tokens(self, subject: Subject) -> int:
        """Used when the review was opened, as far as that is known."""
        return subject.review.run.tokens_used

    def quote_last_step(self, subject: Subject) -> tuple[str, str]:
        """What the agent said of the step that led to it, and the step's signature."""
        return "", ""


def describe_work(subject: Subject, did: str) -> SafeString:
    """What an agent did, and what it was working on."""
    return format_html(
        "<b>{}</b> {} while working on “{}”.",
        subject.run.agent,
        did,
        Truncator(subject.run.task).chars(TASK_LIMIT),
    )
