"""A call that waits for a person: what would run, why they are asked, what they may do.

All of it is made from the content that was hashed; nothing is resolved or run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from console.format import span
from console.queue.amend import AmendBox, amend_box
from console.queue.remember import Remembering, remembered_with, remembering_of
from guidance.core.shell_commands import Part, split_command
from guidance.core.shell_commands.limits import MAX_CHARACTERS, MAX_PARTS, MAX_TOKENS
from guidance.core.tools.texts import list_holders, list_marked_texts
from guidance.core.vocabulary import get_call_severity
from guidance.selectors import get_policy
from reviews.models import Review
from reviews.rulings.call_pages import Form, Sheet, sheets_of
from reviews.rulings.reading_proof import pages_served, unread
from reviews.selectors import list_amended_findings
from safetext import (
    ShownCommand,
    ShownDiff,
    ShownPath,
    ShownText,
    marks_of,
    show_command,
    show_diff,
    show_path,
    show_text,
    visible,
    visible_line,
)

_KINDS = {
    "command": "command",
    "tool": "tool call",
    "edit": "edit",
    "multi_edit": "edit",
}
_TONES = {"block": "stop", "require-confirmation": "pause", "warn": "slow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One text on this page, shown as what it is; `unsplit` has more parts than are told."""

    names: tuple[str, ...]
    literal: str
    continued: bool
    unsplit: bool = False
    text: ShownText | None = None
    command: ShownCommand | None = None
    diff: ShownDiff | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What one gate found. `quote` is what it is about, where nothing is marked."""

    message: str
    why: str
    name: str
    safer: str
    tone: str
    uninspectable: bool
    quote: str
    page: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCall:
    """What a person made of a call, and what the gates say of that."""

    blocks: tuple[Block, ...]
    reasons: tuple[Reason, ...]

    @property
    def asking(self) -> int:
        return _asking(self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    kind: str
    tool: str
    path: ShownPath | None
    blocks: tuple[Block, ...]
    arguments: int | None
    edits: int | None
    page: int
    pages: int
    served: int
    reasons: tuple[Reason, ...]
    words: ShownText | None
    digest: str
    lasts: str
    amend: AmendBox
    remember: Remembering
    approved: ChangedCall | None
    remembered: str

    @property
    def own_path(self) -> bool:
        """A diff names its file itself; what is odd about the path still has to be said."""
        named = any(block.diff and block.diff.files for block in self.blocks)
        return not named or bool(self.path and self.path.warnings)

    @property
    def asking(self) -> int:
        return _asking(self.reasons)

    @property
    def unread(self) -> str:
        """Why it cannot be approved yet; empty once every page was shown."""
        if self.served >= self.pages:
            return ""
        return unread(pages=self.pages, served=self.served)

    @property
    def next_page(self) -> int:
        return self.served + 1

    @property
    def shown_pages(self) -> range:
        return range(1, self.served + 1)

    @property
    def short_digest(self) -> str:
        return self.digest.partition(":")[2][:12]


def confirmation_of(
    review: Review,
    content: Mapping[str, Any],
    *,
    user_id: int,
    page: int,
    last_words: str,
) -> Confirmation:
    """One page of the call; the first ones up to the next may be asked for."""
    sheets = sheets_of(content)
    served = len(sheets)
    if len(sheets) > 1 and review.closed_at is None:
        served = min(served, pages_served(review, user_id=user_id))
    page = min(max(page, 1), served)
    shown, shells = content["shown"], _shells(review, content)
    return Confirmation(
        kind=_KINDS[content["call_kind"]],
        tool=visible_line(content["tool"]),
        path=show_path(shown["file_path"]) if "file_path" in shown else None,
        blocks=tuple(_blocks(sheets[page - 1], content, shells)),
        arguments=_arguments(content),
        edits=len(shown["edits"]) if "edits" in shown else None,
        page=page,
        pages=len(sheets),
        served=served,
        reasons=tuple(_reasons(content, sheets)),
        words=show_text(last_words) if last_words else None,
        digest=content["digest"],
        lasts=span(content["expires_s"] * 1000),
        amend=amend_box(content),
        remember=remembering_of(review, content),
        approved=_build_approved_call(review, content),
        remembered=remembered_with(review),
    )


def _arguments(content: Mapping[str, Any]) -> int | None:
    """How many are listed; None for a call that has none beside what it runs."""
    arguments = dict(content["shown"].get("arguments") or {})
    if content["call_kind"] == "tool":
        return len(arguments)
    arguments.pop("command", None)
    return len(arguments) or None


def _shells(review: Review, content: Mapping[str, Any]) -> frozenset[str]:
    """Where in the arguments a command stands, by the policy's marks."""
    rules = get_policy(review.run.policy_id).policy.tools
    return frozenset(
        text.place
        for text in list_marked_texts(
            list_holders(content["shown"].get("arguments") or {}, "/arguments"),
            rules.shell.get_names(content["tool"]),
        )
        if not text.joined
    )


def _blocks(
    sheet: Sheet, content: Mapping[str, Any], shells: frozenset[str]
) -> Iterator[Block]:
    # A command that was given word by word has no text to mark a stretch of.
    placed = [f for f in content["findings"] if f["details"].get("span")]
    file_name = content["shown"].get("file_path", "")
    for part in sheet:
        text, page = part.text, (part.start, part.end)
        marks = [
            mark
            for mark in marks_of(placed, argument=text.place)
            if not _about_everything(text.text, (mark.start, mark.end))
        ]
        block = Block(
            names=tuple(map(visible_line, text.names)),
            literal=text.literal,
            continued=part.start > 0,
        )
        if text.form is Form.DIFF:
            diff = show_diff(text.text, file_name=file_name, marks=marks, page=page)
            yield replace(block, diff=diff)
        elif text.form is Form.COMMAND or text.place in shells:
            parts = split_command(text.text)
            command = show_command(text.text, parts, marks=marks, page=page)
            yield replace(block, command=command, unsplit=_unsplit(text.text, parts))
        else:
            shown = show_text(text.text, marks=marks, file_name=file_name, page=page)
            yield replace(block, text=shown)


def _unsplit(text: str, parts: Sequence[Part]) -> bool:
    words = sum(len(part.tokens) for part in parts)
    return len(text) > MAX_CHARACTERS or len(parts) >= MAX_PARTS or words >= MAX_TOKENS


def _about_everything(text: str, span: Sequence[int]) -> bool:
    """A mark on every line would mark nothing, and so would one on blanks alone."""
    said = text.strip()
    return ("\n" in said or not said) and span[1] - span[0] >= len(said)


def _reasons(content: Mapping[str, Any], sheets: Sequence[Sheet]) -> Iterator[Reason]:
    """The findings that need a person first, then what else was found."""
    found = sorted(content["findings"], key=lambda f: get_call_severity(f["decision"]))
    reasons = (_reason(finding, sheets) for finding in found)
    yield from dict.fromkeys(reasons)  # told once, however often it was found


def _reason(finding: Mapping[str, Any], sheets: Sequence[Sheet]) -> Reason:
    details = finding["details"]
    page = _page_of(details, sheets)
    return Reason(
        message=visible_line(finding["message"]),
        why=visible(details.get("why") or ""),
        name=visible_line(str(details.get("rule") or finding["gate"])),
        safer=visible(finding["remediation"] or ""),
        tone=_TONES.get(finding["decision"], "go"),
        uninspectable=bool(details.get("uninspectable")),
        quote="" if page or details.get("uninspectable") else _quote(details),
        page=page,
    )


def _asking(reasons: Iterable[Reason]) -> int:
    return sum(reason.tone == "pause" for reason in reasons)


def _quote(details: Mapping[str, Any]) -> str:
    return visible_line(str(details.get("text") or ""))


def _page_of(details: Mapping[str, Any], sheets: Sequence[Sheet]) -> int:
    """The page on which it begins; 0 where nothing is marked."""
    if not details.get("span"):
        return 0
    start = details["span"][0]
    return next(
        (
            number
            for number, sheet in enumerate(sheets, start=1)
            for part in sheet
            if part.text.place == details.get("argument")
            if part.start <= start < part.end
            if not _about_everything(part.text.text, details["span"])
        ),
        0,
    )


def changed_call(
    review: Review,
    content: Mapping[str, Any],
    *,
    shown: Mapping[str, Any],
    findings: Sequence[Mapping[str, Any]],
) -> ChangedCall:
    """The call of a review as a person changed it, on one page however long it is."""
    instead = {**content, "shown": shown, "findings": findings}
    sheets, shells = sheets_of(instead), _shells(review, instead)
    return ChangedCall(
        blocks=tuple(
            block for sheet in sheets for block in _blocks(sheet, instead, shells)
        ),
        reasons=tuple(_reasons(instead, sheets)),
    )


def _build_approved_call(
    review: Review, content: Mapping[str, Any]
) -> ChangedCall | None:
    """What a person let run instead; None where it ran as it was asked for."""
    ruling = getattr(review, "ruling", None)
    if ruling is None or ruling.amended is None:
        return None
    return changed_call(
        review,
        content,
        shown=json.loads(ruling.amended),
        findings=list_amended_findings(review),
    )
