"""The turns section of a policy document, read strictly."""

from __future__ import annotations

from dataclasses import replace

from guidance.core.arguments import find_tool_problem
from guidance.core.document_reader import Section
from guidance.core.turns.phrases import (
    PHRASE_CHARACTERS,
    Phrases,
    find_phrase_problem,
)
from guidance.core.turns.section import TurnRules

# One more than any turn can score, which switches a rule off.
_NEVER = 101
_RETRIES_LIMIT = 100
_NUDGE_LIMIT = 2_000
# As much of a phrase as a schema can say: words and sentences it cannot.
_PHRASE = rf"[\s\S]{{1,{PHRASE_CHARACTERS}}}"


def read_turn_rules(section: Section) -> TurnRules:
    common = _read_rules(section, TurnRules())
    models = {}
    for name, own in section.read_named_parts("models").items():
        why = _find_model_problem(name)
        if why is not None:
            section.refuse(f"models.{name}", why)
        models[name] = _read_rules(own, common)
        own.close()
    section.close()
    return replace(common, models=models)


def _read_rules(section: Section, default: TurnRules) -> TurnRules:
    """One set of rules; what it leaves out is as in `default`."""

    def phrases(name: str) -> Phrases:
        known: Phrases = getattr(default, name)
        texts = section.read_texts(
            name, known.texts, problem=find_phrase_problem, pattern=_PHRASE
        )
        return known if texts == known.texts else Phrases(texts)

    rules = TurnRules(
        threshold=section.read_integer(
            "threshold", default.threshold, low=1, high=_NEVER
        ),
        warn_from=section.read_integer(
            "warn_from", default.warn_from, low=0, high=_NEVER
        ),
        max_retries=section.read_integer(
            "max_retries", default.max_retries, low=0, high=_RETRIES_LIMIT
        ),
        intent_phrases=phrases("intent_phrases"),
        completion_phrases=phrases("completion_phrases"),
        summary_phrases=phrases("summary_phrases"),
        nudge=_read_nudge(section, default.nudge),
    )
    if section.is_valid("threshold", "warn_from") and rules.warn_from > rules.threshold:
        section.refuse(
            "warn_from",
            f"{rules.warn_from} is more than threshold, which is {rules.threshold}",
        )
    return rules


def _read_nudge(section: Section, default: str) -> str:
    text = section.read_text("nudge", most=_NUDGE_LIMIT, default=default)
    if section.is_valid("nudge") and not text.strip():
        section.refuse("nudge", "must not be blank")
    return text


def _find_model_problem(pattern: str) -> str | None:
    if "*" in pattern[:-1]:
        return "a star may only stand at the end"
    return None if pattern == "*" else find_tool_problem(pattern.removesuffix("*"))
