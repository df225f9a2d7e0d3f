"""An approval that an agent asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.safestring import SafeString

from console.queue.kinds.base import ReviewKind, Subject, describe_work
from safetext import make_visible, make_visible_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    detail: str
    options: tuple[str, ...]


class RequestKind(ReviewKind[Request]):
    icon: ClassVar[str] = "hand"
    word: ClassVar[str] = "Approval asked"
    nouns: ClassVar[tuple[str, str]] = ("request", "requests")
    hint: ClassVar[str] = (
        "The agent learns whether you approve or deny; abort ends the run."
    )
    template: ClassVar[str] = "console/queue/kinds/_request.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        return "approval"

    def build_body(self, subject: Subject) -> Request:
        content = subject.content
        return Request(
            detail=make_visible(content.get("detail") or ""),
            options=tuple(map(make_visible_line, content.get("options") or ())),
        )

    def build_headline(self, subject: Subject, body: Request) -> SafeString:
        return describe_work(subject, "asks for an approval")
