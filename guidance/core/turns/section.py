"""What a policy says about turns: when to go on, how often, and by which phrases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.arguments import choose_pattern, find_tool_problem
from guidance.core.document_reader import Section
from guidance.core.settings import Known, declare, read_settings, whole
from guidance.core.turns.default_phrases import (
    COMPLETION_PHRASES,
    INTENT_PHRASES,
    NUDGE,
    SUMMARY_PHRASES,
)
from guidance.core.turns.phrases import (
    PHRASE_CHARACTERS,
    Phrases,
    find_phrase_problem,
)

# One more than any turn can score, which switches a rule off.
_NEVER = 101
_NUDGE_LIMIT = 2_000
# As much of a phrase as a schema can say: words and sentences it cannot.
_PHRASE = rf"[\s\S]{{1,{PHRASE_CHARACTERS}}}"


def _declare_phrases(default: tuple[str, ...], label: str, text: str) -> Any:
    def read(section: Section, key: str, usual: Phrases, _: Known) -> Phrases:
        texts = section.read_texts(
            key, usual.texts, problem=find_phrase_problem, pattern=_PHRASE
        )
        return usual if texts == usual.texts else Phrases(texts)

    return declare(Phrases(default), label, text, read=read)


def _read_nudge(section: Section, key: str, usual: str, _: Known) -> str:
    text = section.read_text(key, most=_NUDGE_LIMIT, default=usual)
    if section.is_valid(key) and not text.strip():
        section.refuse(key, "must not be blank")
    return text


def _read_models(
    section: Section, key: str, _usual: object, known: Known
) -> dict[str, TurnRules]:
    """Read the rules of some models; what they leave out is as in the common ones."""
    common = TurnRules(**known)
    models = {}
    for name, own in section.read_named_parts(key).items():
        why = _find_model_problem(name)
        if why is not None:
            section.refuse(f"{key}.{name}", why)
        models[name] = read_settings(own, TurnRules, common, leave_out=key)
    return models


def _find_model_problem(pattern: str) -> str | None:
    if "*" in pattern[:-1]:
        return "a star may only stand at the end"
    return None if pattern == "*" else find_tool_problem(pattern.removesuffix("*"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """A score of `threshold` goes on, one of `warn_from` is noted.

    `models` holds the full rules of the models that have their own, by the model's name
    or the beginning of names and a star.
    """

    threshold: int = whole(
        60,
        "Sent on from",
        "An agent that stopped with this score; 101 is never.",
        low=1,
        high=_NEVER,
        unit="score",
    )
    warn_from: int = whole(
        40,
        "Noted from",
        "A stop with this score is noted; at most threshold.",
        low=0,
        high=_NEVER,
        unit="score",
        at_most="threshold",
    )
    max_retries: int = whole(
        3,
        "Sent on at most",
        "So many times in a row; then a person is asked.",
        low=0,
        high=100,
        unit="times",
    )
    intent_phrases: Phrases = _declare_phrases(
        INTENT_PHRASES, "Not done", "Texts that announce more work."
    )
    completion_phrases: Phrases = _declare_phrases(
        COMPLETION_PHRASES, "Done", "Texts that say the work is done."
    )
    summary_phrases: Phrases = _declare_phrases(
        SUMMARY_PHRASES, "Summing up", "Texts that end a piece of work."
    )
    nudge: str = declare(
        NUDGE, "Message", "What an agent that is sent on reads.", read=_read_nudge
    )
    models: Mapping[str, TurnRules] = declare(
        dict,
        "Models",
        "Other values for some, by name, or its beginning and a star.",
        read=_read_models,
        each_alike=True,
    )

    def get_for_model(self, name: str | None) -> TurnRules:
        """The rules for this model: its own, the longest beginning's, or the common."""
        own = None if name is None else choose_pattern(self.models, name)
        return replace(self, models={}) if own is None else self.models[own]
