"""A call that waits for a person: what would run, why they are asked, what they may do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.format import format_count, format_span
from console.queue.amending.box import AmendBox, build_amend_box
from console.queue.amending.changes import ShownChange, build_changes
from console.queue.call_parts import (
    Block,
    ChangedCall,
    Reason,
    build_changed_call,
    count_asking,
    find_shells,
    list_blocks,
    list_reasons,
)
from console.queue.kinds.base import NoteBox, Progress, ReviewKind, Subject
from console.queue.kinds.opinions import ShownOpinion, build_opinion
from console.queue.remember import (
    RememberOffer,
    build_remember_offer,
    describe_remembered,
)
from ledger.models import Entry
from reviews.models import Review
from reviews.queue.asking_rule import (
    asks_about_harm,
    describe_asking_rule,
    get_asking_message,
)
from reviews.queue.likeness import build_command_outline
from reviews.rulings.call_pages import build_call_pages
from reviews.rulings.four_eyes import find_amendment
from reviews.rulings.reading_proof import count_served_pages, describe_unread
from reviews.selectors import list_amended_findings
from safetext import (
    ShownPath,
    ShownText,
    make_visible_line,
    show_path,
    show_text,
)

_KINDS = {
    "command": "command",
    "tool": "tool call",
    "edit": "edit",
    "multi_edit": "edit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """`chips` tell what kind of call it is, `policy` who asks."""

    title: str
    why_title: str
    chips: tuple[str, ...]
    tool: str
    policy: str
    path: ShownPath | None
    blocks: tuple[Block, ...]
    page: int
    pages: int
    served: int
    reasons: tuple[Reason, ...]
    opinion: ShownOpinion | None
    words: ShownText | None
    digest: str
    lasts: str
    closed: bool
    amend: AmendBox
    remember: RememberOffer
    approved: ChangedCall | None
    changes: tuple[ShownChange, ...]
    remembered: str

    @property
    def own_path(self) -> bool:
        """A diff names its file itself; what is odd about the path still has to be said."""
        named = any(block.diff and block.diff.files for block in self.blocks)
        return not named or bool(self.path and self.path.warnings)

    @property
    def asking(self) -> str:
        return format_count(count_asking(self.reasons), "reason")

    @property
    def place(self) -> str:
        """Which page this is; empty where there is only one."""
        return f"page {self.page} of {self.pages}" if self.pages > 1 else ""

    @property
    def next_label(self) -> str:
        return f"Show page {self.next_page} of {self.pages}"

    @property
    def unread(self) -> str:
        """Why it cannot be approved yet; empty once every page was shown."""
        if self.served >= self.pages:
            return ""
        return describe_unread(pages=self.pages, served=self.served)

    @property
    def next_page(self) -> int:
        return self.served + 1

    @property
    def shown_pages(self) -> range:
        return range(1, self.served + 1)

    @property
    def short_digest(self) -> str:
        return self.digest.partition(":")[2][:12]


class ConfirmationKind(ReviewKind[Confirmation]):
    icon: ClassVar[str] = "stop"
    word: ClassVar[str] = "Wants to run"
    nouns: ClassVar[tuple[str, str]] = ("call", "calls")
    hint: ClassVar[str] = (
        "Approve allows exactly this call, once; deny tells the agent why."
    )
    template: ClassVar[str] = "console/queue/kinds/_confirmation.html"
    buttons_template: ClassVar[str] = "console/queue/_call_buttons.html"
    properties_template: ClassVar[str] = "console/queue/_grant.html"
    dialog_template: ClassVar[str] = "console/queue/_amend.html"
    is_amendable: ClassVar[bool] = True

    def build_chip(self, content: Mapping[str, Any]) -> str:
        return describe_asking_rule(content)

    def build_fold_title(self, review: Review, content: Mapping[str, Any]) -> str:
        """The command without what it touches, or what the rule says of each of them."""
        command = content["shown"].get("command")
        if isinstance(command, str):
            return build_command_outline(command)
        return get_asking_message(content)

    def get_tone(self, content: Mapping[str, Any]) -> str:
        return "stop" if asks_about_harm(content) else "pause"

    def build_body(self, subject: Subject) -> Confirmation:
        return build_confirmation(subject)

    def build_headline(self, subject: Subject, body: Confirmation) -> SafeString:
        step = subject.review.step_number
        return format_html(
            "The agent <b>{}</b> {}{}.",
            subject.run.agent,
            "wanted to run this"
            if subject.closed
            else "wants to run this. It waits for your decision",
            f" after step {step}" if step else "",
        )

    def build_note_box(self, subject: Subject, body: Confirmation) -> NoteBox:
        return NoteBox(alone="Note only")

    def get_progress(self, body: Confirmation) -> Progress:
        return Progress(page=body.page, served=body.served, unread=body.unread)


def build_confirmation(subject: Subject) -> Confirmation:
    """One page of the call; the first ones up to the next may be asked for."""
    review, content, page = subject.review, subject.content, subject.page
    call_pages = build_call_pages(content)
    served = len(call_pages)
    if len(call_pages) > 1 and review.closed_at is None:
        served = min(served, count_served_pages(review, user_id=subject.viewer_id))
    page = min(max(page, 1), served)
    shown, shells = content["shown"], find_shells(review, content)
    last_words, amended = _get_last_words(subject.steps), _read_amended(review)
    return Confirmation(
        title="What was asked for"
        if subject.closed or find_amendment(review)
        else "What would run",
        why_title="Why it was asked" if subject.closed else "Why you are asked",
        chips=tuple(_list_chips(content)),
        policy=f"policy {subject.run.policy}",
        tool=make_visible_line(content["tool"]),
        path=show_path(shown["file_path"]) if "file_path" in shown else None,
        blocks=tuple(list_blocks(call_pages[page - 1], content, shells)),
        page=page,
        pages=len(call_pages),
        served=served,
        reasons=tuple(list_reasons(content, call_pages)),
        opinion=build_opinion(review, content),
        words=show_text(last_words) if last_words else None,
        digest=content["digest"],
        lasts=f"{format_span(content['expires_s'] * 1000)} after approval",
        closed=subject.closed,
        amend=build_amend_box(content),
        remember=build_remember_offer(review, content),
        approved=_build_approved_call(review, content, amended),
        changes=build_changes(content, amended) if amended else (),
        remembered=describe_remembered(review),
    )


def _get_last_words(steps: Sequence[Entry]) -> str:
    """What the agent said of its last step."""
    if not steps:
        return ""
    summary: str = json.loads(steps[-1].payload)["report"]["summary"]
    return summary


def _list_chips(content: Mapping[str, Any]) -> Iterator[str]:
    """How much there is of the call, then what it is."""
    arguments = _count_arguments(content)
    if arguments is not None:
        yield format_count(arguments, "argument") if arguments else "no arguments"
    if "edits" in content["shown"]:
        yield format_count(len(content["shown"]["edits"]), "edit")
    yield _KINDS[content["call_kind"]]


def _count_arguments(content: Mapping[str, Any]) -> int | None:
    """How many are listed; None for a call that has none beside what it runs."""
    arguments = dict(content["shown"].get("arguments") or {})
    if content["call_kind"] == "tool":
        return len(arguments)
    arguments.pop("command", None)
    return len(arguments) or None


def _build_approved_call(
    review: Review, content: Mapping[str, Any], shown: Mapping[str, Any] | None
) -> ChangedCall | None:
    """What a person let run instead; None where it ran as it was asked for."""
    if shown is None:
        return None
    findings = list_amended_findings(review)
    return build_changed_call(review, content, shown=shown, findings=findings)


def _read_amended(review: Review) -> dict[str, Any] | None:
    ruling = getattr(review, "ruling", None)
    if ruling is None or ruling.amended is None:
        return None
    shown: dict[str, Any] = json.loads(ruling.amended)
    return shown
