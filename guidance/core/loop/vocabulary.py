"""The fixed vocabularies of the loop: triggers, actions, outcomes."""

from __future__ import annotations

# What others may signal; the clock's and a person's own wake have no sender.
SIGNALS = (
    "agent/loop.complete",
    "agent/loop.retro.complete",
    "agent/loop.failed",
    "system/note",
)
HEARTBEAT, WAKE = "heartbeat", "wake"
TRIGGERS = (*SIGNALS, HEARTBEAT, WAKE)
SOURCES = ("clock", "signal", "manual", "own")

DO_NOTHING = "do_nothing"
# Each of these sends exactly one event, or none where a guardrail stops it.
EMITTING = (
    "start_loop",
    "process_notes",
    "apply_retro_recommendation",
    "emit_alert",
)
ACTIONS = (*EMITTING, DO_NOTHING)

OUTCOMES = (
    "emitted",
    "noop",
    "rate_limited",
    "budget_denied",
    "approval_required",
    "approved_and_emitted",
    "approval_denied",
    "deduplicated",
    "invalid_decision",
)
DECIDERS = ("rules", "llm", "shadow")
EVENT = "loop.event"
