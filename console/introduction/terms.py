"""Words of ours that stand on a screen, each in a sentence; `docs/glossary.md` has all."""

from __future__ import annotations

from django.utils.text import slugify

TERMS: dict[str, str] = {
    "agent": "A program that works on its own and reports here what it does.",
    "allowance": "Given with the approval of a pause: for some steps or minutes the same signal does not ask again, up to a value.",
    "amend": "To approve a call after changing it. The same gates judge the change.",
    "backtest": "Stored decisions judged again by a draft of a policy, to see which would come out otherwise.",
    "check": "Quality gates put to a step. It counts the attempts.",
    "checkpoint": "Of a run: a saved state from which the agent can go on.",
    "claim": "A reviewer says “I take this”. It warns the others and locks nobody out.",
    "coherence": "From 0 to 1: whether the work of a step hangs together.",
    "continue gate": "The gates of a step together: may the run go on?",
    "digest": "A short fingerprint of the exact content. What you approve is this and nothing else.",
    "exhausted": "A check that ran out of attempts: a person decides how it goes on.",
    "expiry": "The time of a review ran out. It never ends in an approval.",
    "finding": "One reason for a decision: the gate, the rule, and where it was found.",
    "four eyes": "Several people have to approve; the owner of the agent never counts.",
    "gate": "Judges one thing, such as a step or a call, and may stop it or ask a person.",
    "grant": "The permission to run one exact call once.",
    "intent": "What a step was for, such as bug-fix, as its agent reports it.",
    "label": "A name and a value that an agent gives its run, such as repo=shop.",
    "ledger": "Everything that happened, in entries that cannot be changed unnoticed.",
    "loop": "An agent of the server itself that looks after a project and asks before it acts.",
    "owner": "The person who answers for an agent.",
    "pause": "A gate stopped a run until a person says how it goes on.",
    "permission": "Calls of one shape that need not be asked about again.",
    "policy": "The limits and rules of a project, in versions that never change.",
    "quality gate": "Criteria that an agent’s work has to meet.",
    "review": "Something in the queue that waits for a person.",
    "rework": "Steps that redid earlier work, as the agent reports them.",
    "ruling": "What a person decided on a review.",
    "run": "One task that an agent works on, from start to end.",
    "severity": "How bad it is if a review is ruled on wrongly: critical, high, medium or low.",
    "shadow": "A draft of a policy that judges beside the version in force for a time, and decides nothing.",
    "shape": "What calls of one permission have in common.",
    "slope": "How fast the tokens of a step grow from step to step.",
    "step": "One report of an agent on its run: what it did, used and found.",
    "tool call": "What an agent wants to do, judged before it runs.",
    "undo": "Whether what is let happen can be undone: read-only, here, elsewhere, or not at all.",
    "uncertainty": "From 0 to 1: how unsure the agent is of its step.",
}


def find_term(words: str) -> tuple[str, str] | None:
    """The term that a label on screen speaks of, with its meaning: the longest that its
    words hold."""
    shown = f" {words.lower().removesuffix('s')} "
    fitting = [term for term in TERMS if f" {term} " in shown]
    if not fitting:
        return None
    term = max(fitting, key=len)
    return term, TERMS[term]


def list_terms() -> list[tuple[str, str, str]]:
    """An anchor, the word and its meaning."""
    return [(slugify(term), term, meaning) for term, meaning in TERMS.items()]
