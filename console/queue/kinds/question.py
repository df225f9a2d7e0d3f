"""A question: asked by the agent, or how a turn ended that was put before a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.safestring import SafeString

from console.queue.kinds.base import NoteBox, ReviewKind, Subject, describe_work
from safetext import ShownText, make_visible, make_visible_line, show_text, split_pages

_NOTE = NoteBox(label="Your answer", placeholder="Your answer to the agent.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """`before` counts the characters of a long turn that stand before what is shown."""

    reason: str
    said: ShownText | None
    before: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`turn` is None for a question that the agent asked by itself."""

    detail: str
    options: tuple[str, ...]
    turn: Turn | None


class QuestionKind(ReviewKind[Question]):
    icon: ClassVar[str] = "question"
    word: ClassVar[str] = "Question"
    nouns: ClassVar[tuple[str, str]] = ("question", "questions")
    hint: ClassVar[str] = "Your answer goes to the agent and the run goes on."
    template: ClassVar[str] = "console/queue/kinds/_question.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        return "question"

    def build_body(self, subject: Subject) -> Question:
        turn = _build_turn(subject)
        content = subject.content
        return Question(
            detail="" if turn else make_visible(content.get("detail") or ""),
            options=tuple(map(make_visible_line, content.get("options") or ())),
            turn=turn,
        )

    def build_headline(self, subject: Subject, body: Question) -> SafeString:
        did = "ended a turn and waits for a person" if body.turn else "asks a question"
        return describe_work(subject, did)

    def build_note_box(self, subject: Subject, body: Question) -> NoteBox:
        return _NOTE


def _build_turn(subject: Subject) -> Turn | None:
    """Of a long turn its last page is shown: there it says what it waits for."""
    content = subject.content
    if "reason" not in content:
        return None
    waits = (
        "The agent waited for an answer."
        if subject.closed
        else "The agent waits: your answer is handed to it, word for word."
    )
    text = content["detail"]
    last = split_pages(text)[-1]
    return Turn(
        reason=f"{make_visible_line(content['reason'])}. {waits}",
        said=show_text(text, page=last) if text else None,
        before=last[0],
    )
