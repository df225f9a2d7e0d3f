"""An action of the system loop that waits for a person, as the pane shows it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safetext import ShownText, show_text, visible, visible_line


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


def loop_action_of(content: Mapping[str, Any]) -> LoopAction:
    parameters = json.dumps(content["parameters"], ensure_ascii=False, indent=2)
    return LoopAction(
        loop=visible_line(content["loop"]),
        description=visible(content["description"]),
        parameters=show_text(parameters),
        harm=visible_line(content["harm"]),
        reasoning=visible(content["reasoning"]),
        trigger=visible_line(content["trigger"]["type"]),
        decision=content["decision"],
    )
