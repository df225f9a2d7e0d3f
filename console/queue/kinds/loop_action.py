"""An action of the system loop that waits for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.queue.kinds.base import ReviewKind, Subject
from safetext import ShownText, make_visible, make_visible_line, show_text

CHIP_LIMIT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopAction:
    """What would be emitted, why it was chosen, and why a person is asked."""

    loop: str
    description: str
    parameters: ShownText
    harm: str
    reasoning: str
    trigger: str
    decision: str


class LoopActionKind(ReviewKind[LoopAction]):
    icon: ClassVar[str] = "play"
    word: ClassVar[str] = "Wants to act"
    nouns: ClassVar[tuple[str, str]] = ("loop action", "loop actions")
    hint: ClassVar[str] = (
        "Approve starts exactly this, once; deny, and it does not start."
    )
    template: ClassVar[str] = "console/queue/kinds/_loop_action.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        return make_visible_line(content["loop"], limit=CHIP_LIMIT)

    def get_tone(self, content: Mapping[str, Any]) -> str:
        return "stop"

    def build_body(self, subject: Subject) -> LoopAction:
        content = subject.content
        parameters = json.dumps(content["parameters"], ensure_ascii=False, indent=2)
        return LoopAction(
            loop=make_visible_line(content["loop"]),
            description=make_visible(content["description"]),
            parameters=show_text(parameters),
            harm=f"It can do harm: {make_visible_line(content['harm'])}.",
            reasoning=make_visible(content["reasoning"]),
            trigger=make_visible_line(content["trigger"]["type"]),
            decision=content["decision"],
        )

    def build_headline(self, subject: Subject, body: LoopAction) -> SafeString:
        return format_html(
            "<b>{}</b> wants to start the loop {}.", subject.run.agent, body.loop
        )
