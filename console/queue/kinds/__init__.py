"""Every kind of review that the queue shows."""

from __future__ import annotations

from typing import Any

from console.queue.kinds.base import ReviewKind
from console.queue.kinds.confirmation import ConfirmationKind
from console.queue.kinds.exhausted import ExhaustedKind
from console.queue.kinds.loop_action import LoopActionKind
from console.queue.kinds.pause import PauseKind
from console.queue.kinds.plan import PlanKind
from console.queue.kinds.policy_change import PolicyChangeKind
from console.queue.kinds.question import QuestionKind
from console.queue.kinds.request import RequestKind
from reviews.models import Kind

KINDS: dict[str, ReviewKind[Any]] = {
    Kind.PAUSE: PauseKind(),
    Kind.REQUEST: RequestKind(),
    Kind.QUESTION: QuestionKind(),
    Kind.CONFIRMATION: ConfirmationKind(),
    Kind.EXHAUSTED: ExhaustedKind(),
    Kind.LOOP_ACTION: LoopActionKind(),
    Kind.POLICY_CHANGE: PolicyChangeKind(),
    Kind.PLAN: PlanKind(),
}


def get_kind(name: str) -> ReviewKind[Any]:
    return KINDS[name]
