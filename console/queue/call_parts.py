"""The parts of a call as a person reads them: its texts, and what the gates found.

All of it is made from the content that was hashed; nothing is resolved or run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from console.format import format_count
from guidance.core.look_first import GATE as FIRST_LOOK
from guidance.core.shell_commands import Part, split_command
from guidance.core.shell_commands.limits import MAX_CHARACTERS, MAX_PARTS, MAX_TOKENS
from guidance.core.tools.code_arguments import split_code
from guidance.core.tools.texts import list_holders, list_marked_texts
from guidance.core.vocabulary import get_call_severity
from guidance.selectors import get_policy
from reviews.models import Review
from reviews.rulings.call_pages import CallPage, Form, build_call_pages
from safetext import (
    ShownCommand,
    ShownDiff,
    ShownText,
    build_marks,
    make_visible,
    make_visible_line,
    show_command,
    show_diff,
    show_text,
)

_PERMISSIONS = {True: "can be permitted", False: "asked every time"}
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
    """What one gate found. `quote` is what it is about, where nothing is marked.

    `permission` says whether a standing permission may answer next time.
    """

    message: str
    why: str
    name: str
    safer: str
    tone: str
    uninspectable: bool
    quote: str
    page: int
    permission: str

    @property
    def is_asking(self) -> bool:
        return self.tone == "pause"

    @property
    def confirm_text(self) -> str:
        """What a person ticks who lets it run all the same."""
        return f"I have read “{self.message}”, and let it run all the same."


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCall:
    """What a person made of a call, and what the gates say of that."""

    blocks: tuple[Block, ...]
    reasons: tuple[Reason, ...]

    @property
    def asking(self) -> int:
        return count_asking(self.reasons)

    @property
    def found(self) -> str:
        return format_count(self.asking, "finding")

    @property
    def let_through(self) -> str:
        """What was found and granted all the same; empty where nothing was."""
        return f"{self.found} let through" if self.asking else ""


def build_changed_call(
    review: Review,
    content: Mapping[str, Any],
    *,
    shown: Mapping[str, Any],
    findings: Sequence[Mapping[str, Any]],
) -> ChangedCall:
    """The call of a review as a person changed it, on one page however long it is."""
    # The diff of several edits is of what was asked for.
    instead = {**content, "shown": shown, "findings": findings, "preview": None}
    call_pages, shells = build_call_pages(instead), find_shells(review, instead)
    return ChangedCall(
        blocks=tuple(
            block
            for call_page in call_pages
            for block in list_blocks(call_page, instead, shells)
        ),
        reasons=tuple(list_reasons(instead, call_pages)),
    )


def find_shells(review: Review, content: Mapping[str, Any]) -> frozenset[str]:
    """Where in the arguments a command stands, by the policy's marks; a program of
    another language is no command."""
    rules, tool = get_policy(review.run.policy_id).policy.tools, content["tool"]
    held = list_holders(content["shown"].get("arguments") or {}, "/arguments")
    _, others = split_code(tool, held)
    return frozenset(
        text.place
        for text in list_marked_texts(others, rules.shell.get_names(tool))
        if not text.joined
    )


def list_blocks(
    call_page: CallPage, content: Mapping[str, Any], shells: frozenset[str]
) -> Iterator[Block]:
    # A command that was given word by word has no text to mark a stretch of.
    placed = [f for f in content["findings"] if f["details"].get("span")]
    file_name = content["shown"].get("file_path", "")
    for part in call_page:
        text, page = part.text, (part.start, part.end)
        marks = [
            mark
            for mark in build_marks(placed, argument=text.place)
            if not _covers_everything(text.text, (mark.start, mark.end))
        ]
        block = Block(
            names=tuple(map(make_visible_line, text.names)),
            literal=text.literal,
            continued=part.start > 0,
        )
        if text.form is Form.DIFF:
            diff = show_diff(text.text, file_name=file_name, marks=marks, page=page)
            yield replace(block, diff=diff)
        elif text.form is Form.COMMAND or text.place in shells:
            parts = split_command(text.text)
            command = show_command(text.text, parts, marks=marks, page=page)
            yield replace(
                block, command=command, unsplit=_is_too_long_to_split(text.text, parts)
            )
        else:
            shown = show_text(text.text, marks=marks, file_name=file_name, page=page)
            yield replace(block, text=shown)


def _is_too_long_to_split(text: str, parts: Sequence[Part]) -> bool:
    words = sum(len(part.tokens) for part in parts)
    return len(text) > MAX_CHARACTERS or len(parts) >= MAX_PARTS or words >= MAX_TOKENS


def _covers_everything(text: str, span: Sequence[int]) -> bool:
    """A mark on every line would mark nothing, and so would one on blanks alone."""
    said = text.strip()
    return ("\n" in said or not said) and span[1] - span[0] >= len(said)


def list_reasons(
    content: Mapping[str, Any], call_pages: Sequence[CallPage]
) -> Iterator[Reason]:
    """The findings that need a person first, then what else was found."""
    # What a model said of it is shown by itself.
    gates = [each for each in content["findings"] if each["gate"] != FIRST_LOOK]
    found = sorted(gates, key=lambda f: get_call_severity(f["decision"]))
    reasons = (_build_reason(finding, call_pages) for finding in found)
    yield from dict.fromkeys(reasons)  # told once, however often it was found


def _build_reason(finding: Mapping[str, Any], call_pages: Sequence[CallPage]) -> Reason:
    details = finding["details"]
    page = _find_page(details, call_pages)
    return Reason(
        message=make_visible_line(finding["message"]),
        why=make_visible(details.get("why") or ""),
        name=make_visible_line(str(details.get("rule") or finding["gate"])),
        safer=make_visible(finding["remediation"] or ""),
        tone=_TONES.get(finding["decision"], "go"),
        uninspectable=bool(details.get("uninspectable")),
        quote="" if page or details.get("uninspectable") else _quote(details),
        page=page,
        permission=_PERMISSIONS.get(details.get("permittable"), ""),
    )


def count_asking(reasons: Iterable[Reason]) -> int:
    return sum(reason.is_asking for reason in reasons)


def _quote(details: Mapping[str, Any]) -> str:
    return make_visible_line(str(details.get("text") or ""))


def _find_page(details: Mapping[str, Any], call_pages: Sequence[CallPage]) -> int:
    """The page on which it begins; 0 where nothing is marked."""
    if not details.get("span"):
        return 0
    start = details["span"][0]
    return next(
        (
            number
            for number, call_page in enumerate(call_pages, start=1)
            for part in call_page
            if part.text.place == details.get("argument")
            if part.start <= start < part.end
            if not _covers_everything(part.text.text, details["span"])
        ),
        0,
    )
