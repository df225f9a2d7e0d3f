"""Words for turns: when an agent that stopped is sent on."""

from __future__ import annotations

from guidance.core.policy.words.entry import Words

_RULES = {
    "threshold": Words(
        "Sent on from", "An agent that stopped with this score; 101 is never.", "score"
    ),
    "warn_from": Words(
        "Noted from", "A stop with this score is noted; at most threshold.", "score"
    ),
    "max_retries": Words(
        "Sent on at most", "So many times in a row; then a person is asked.", "times"
    ),
    "intent_phrases": Words("Not done", "Texts that announce more work."),
    "completion_phrases": Words("Done", "Texts that say the work is done."),
    "summary_phrases": Words("Summing up", "Texts that end a piece of work."),
    "nudge": Words("Message", "What an agent that is sent on reads."),
}

TURNS = {
    "turns": Words("Turns", "When an agent that stopped too early is sent on."),
    **{f"turns.{name}": words for name, words in _RULES.items()},
    "turns.models": Words(
        "Models", "Other values for some, by name, or its beginning and a star."
    ),
    **{f"turns.models.*.{name}": words for name, words in _RULES.items()},
}
