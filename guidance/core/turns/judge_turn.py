"""What to do after a turn: five signals make a score, and some things come before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from guidance.core.number_format import format_count
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.phrases import find_places_to_look
from guidance.core.turns.questions import Asking, find_question, quote_sentence
from guidance.core.turns.section import TurnRules
from guidance.core.turns.sentences import Sentence, split_sentences

# Stored with every verdict. Any change that would judge stored facts differently, or in
# other words, takes the next number: replay judges again what has the same one.
TURN_VERSION = 1
ACTIONS = ("auto_continue", "warn", "finish", "needs_human", "in_progress")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSignals:
    """The points of each signal."""

    finish_reason: int = 0
    last_event: int = 0
    content_intent: int = 0
    no_summary: int = 0
    tool_ratio: int = 0

    @property
    def score(self) -> int:
        return (
            self.finish_reason
            + self.last_event
            + self.content_intent
            + self.no_summary
            + self.tool_ratio
        )

    def to_json(self) -> dict[str, int]:
        return asdict(self)


NO_SIGNALS = TurnSignals()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnVerdict:
    """`nudge` is what to send to a model that is to go on, `question` the sentence that
    asks a person, `reason` a sentence for people."""

    action: str
    reason: str
    signals: TurnSignals = NO_SIGNALS
    nudge: str | None = None
    question: str | None = None

    @property
    def score(self) -> int:
        return self.signals.score

    def to_json(self) -> dict[str, object]:
        return {
            "action": self.action,
            "score": self.score,
            "signals": self.signals.to_json(),
            "nudge": self.nudge,
            "question": self.question,
            "reason": self.reason,
        }


def judge_turn(rules: TurnRules, facts: TurnFacts) -> TurnVerdict:
    """The action for this turn; `rules` are those of its model.

    Trouble in judging goes to a person: it neither continues nor finishes.
    """
    if facts.tool_calls:
        return TurnVerdict(
            action="in_progress", reason="Tool calls are present: the turn goes on"
        )
    try:
        return _judge_stop(rules, facts)
    except Exception as error:  # trouble asks a person, whatever it is
        return TurnVerdict(
            action="needs_human",
            reason=f"The turn could not be judged ({type(error).__name__})",
        )


def _judge_stop(rules: TurnRules, facts: TurnFacts) -> TurnVerdict:
    sentences = split_sentences(facts.content)
    asked = find_question(sentences)
    some = _select_sentences(rules, sentences)
    completed = rules.completion_phrases.are_claimed_in(some)
    signals = _score_signals(rules, facts, some, completed=completed)
    if asked.question is not None:
        return TurnVerdict(
            action="needs_human",
            reason="The turn asks a person",
            signals=signals,
            question=quote_sentence(facts.content, asked.question),
        )
    if facts.finish_reason == "length":
        return _warn("The answer was cut off at its length limit", signals)
    if facts.finish_reason == "content_filter":
        return _warn("The provider's filter withheld the answer", signals)
    going_on = _find_reason_to_go_on(rules, facts, signals, completed=completed)
    if going_on is not None:
        return _go_on(rules, facts, asked, signals, going_on)
    if completed:
        # Whatever the score: a turn that says it is done is not sent on.
        return TurnVerdict(
            action="finish",
            reason="The turn says that the work is done",
            signals=signals,
        )
    if signals.score >= rules.warn_from:
        return _warn(
            f"Score {signals.score} of {rules.threshold}: perhaps stopped half-way",
            signals,
        )
    return TurnVerdict(
        action="finish",
        reason=f"Score {signals.score}, under {rules.warn_from}",
        signals=signals,
    )


def _select_sentences(
    rules: TurnRules, sentences: Sequence[Sentence]
) -> Sequence[Sentence]:
    """Those in which a phrase of the rules may stand."""
    lists = (rules.completion_phrases, rules.intent_phrases, rules.summary_phrases)
    return [sentences[place] for place in find_places_to_look(sentences, *lists)]


def _score_signals(
    rules: TurnRules,
    facts: TurnFacts,
    sentences: Sequence[Sentence],
    *,
    completed: bool,
) -> TurnSignals:
    intent = not completed and rules.intent_phrases.are_meant_in(sentences)
    return TurnSignals(
        finish_reason={"tool_calls": 30, None: 15}.get(facts.finish_reason, 0),
        last_event=25 if facts.last_event == "tool_result" else 0,
        content_intent=25 if intent else 0,
        no_summary=0 if rules.summary_phrases.are_in(sentences) else 10,
        tool_ratio=10 if facts.recent_tool_ratio > 0.5 else 0,
    )


def _find_reason_to_go_on(
    rules: TurnRules, facts: TurnFacts, signals: TurnSignals, *, completed: bool
) -> str | None:
    """Why this stop should not be the end, None if it may be.

    Open todos count even where the work is said to be done, once for each number of
    them: the same number again is an agent that leaves them open on purpose.
    """
    if signals.score >= rules.threshold and not completed:
        return f"Score {signals.score}, at least {rules.threshold}: stopped half-way"
    if facts.pending_todos not in (0, facts.reminded_todos):
        return f"Stopped with {_describe_todos(facts.pending_todos)} open"
    return None


def _go_on(
    rules: TurnRules, facts: TurnFacts, asked: Asking, signals: TurnSignals, why: str
) -> TurnVerdict:
    """Go on, unless the turn waits for a person or was sent on often enough."""
    if asked.offer is not None:
        return TurnVerdict(
            action="needs_human",
            reason=f"{why}, but the turn leaves it to a person to go on",
            signals=signals,
            question=quote_sentence(facts.content, asked.offer),
        )
    if facts.retries_used >= rules.max_retries:
        times = (
            "once"
            if facts.retries_used == 1
            else f"{format_count(facts.retries_used)} times"
        )
        return TurnVerdict(
            action="needs_human",
            reason=(
                f"{why}. It was sent on {times} in a row already: a person has to look"
                if facts.retries_used
                else f"{why}. The policy sends nothing on: a person has to look"
            ),
            signals=signals,
        )
    nudge = rules.nudge
    if facts.pending_todos:
        are = "is" if facts.pending_todos == 1 else "are"
        nudge += (
            f" {_describe_todos(facts.pending_todos).capitalize()} {are} still open."
        )
    return TurnVerdict(action="auto_continue", reason=why, signals=signals, nudge=nudge)


def _warn(reason: str, signals: TurnSignals) -> TurnVerdict:
    return TurnVerdict(action="warn", reason=reason, signals=signals)


def _describe_todos(count: int) -> str:
    return f"{format_count(count)} todo{'' if count == 1 else 's'}"
