"""Phrases: found as whole words however they are written, and not when denied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.turns.default_phrases import (
    COMPLETION_PHRASES,
    INTENT_PHRASES,
    SUMMARY_PHRASES,
)
from guidance.core.turns.phrases import (
    Phrases,
    find_phrase_problem,
    find_places_to_look,
)
from guidance.core.turns.sentences import split_sentences, split_words
from tests.guidance.core.turns.builders import RULES, judge
from tests.support.examples import examples
from tests.support.rows import each_row

WRITTEN = [
    pytest.param(str.upper, id="upper"),
    pytest.param(lambda text: text.replace("'", "’"), id="curly"),
    pytest.param(lambda text: text.replace(" ", " \t\u00a0"), id="blanks"),
    pytest.param(lambda text: text.replace(" ", "\n"), id="wrapped"),
    pytest.param(lambda text: f"**{text}**", id="bold"),
    pytest.param(lambda text: " ".join(f"_{w}_" for w in text.split()), id="italic"),
    pytest.param(lambda text: text.replace("'ll", " will"), id="will"),
    pytest.param(lambda text: text.replace("'m", " am"), id="am"),
    pytest.param(lambda text: text.replace("'s", " is"), id="is"),
    pytest.param(lambda text: text.replace(" ", "\u200b "), id="invisible"),
]


@each_row("phrase", INTENT_PHRASES)
def test_an_intent_goes_on(phrase: str) -> None:
    verdict = judge(f"Good so far. {phrase.capitalize()} the tests.")
    assert verdict.signals.content_intent == 25
    assert verdict.action == "auto_continue"


@each_row("phrase", COMPLETION_PHRASES)
def test_a_completion_finishes_and_wins_over_an_intent(phrase: str) -> None:
    for text in (
        f"Well, {phrase}. Now let me continue.",
        f"Now let me continue. Well, {phrase}!",
    ):
        verdict = judge(text, finish_reason="tool_calls")
        assert verdict.signals.content_intent == 0
        assert verdict.action == "finish"


@each_row("phrase", SUMMARY_PHRASES)
def test_a_summary_takes_its_points_away(phrase: str) -> None:
    assert judge(f"Well: {phrase} this.").signals.no_summary == 0
    assert judge("Well: this.").signals.no_summary == 10


def test_the_lists_repeat_nothing() -> None:
    for phrases in (INTENT_PHRASES, COMPLETION_PHRASES, SUMMARY_PHRASES):
        forms = [split_words(phrase) for phrase in phrases]
        assert len(set(forms)) == len(forms)
        assert [find_phrase_problem(phrase) for phrase in phrases] == [None] * len(
            phrases
        )


@each_row("write", WRITTEN)
def test_how_a_phrase_is_written_does_not_matter(write: object) -> None:
    assert callable(write)
    for phrase in ("i'm done", "here's what was done", "next, i'll"):
        assert Phrases((phrase,)).are_in(split_sentences(write(phrase)))


@each_row(
    "text",
    [
        "The multitask is complete.",
        "task_is_complete",
        "The task is completely wrong.",
        "The task is. Complete it.",
        "The task is\n\ncomplete.",
        "`task is complete`, it printed",
        'It printed "task is complete" now',
        "```\ntask is complete\n```\nis what it printed",
        "<think>The task is complete.</think> Hm.",
    ],
)
def test_what_only_looks_like_a_phrase_is_none(text: str) -> None:
    assert not Phrases(("task is complete",)).are_in(split_sentences(text))


DENIED = [
    "Not all files have been updated.",
    "Not\nall files have been updated.",
    "I'm not done.",
    "I am not done yet.",
    "It isn't complete yet.",
    "The task isn't complete.",
    "The task is not complete.",
    "I don't think the task is complete.",
    "I can't say that I'm done.",
    "I wouldn't say the task is complete.",
    "This hasn't successfully completed.",
    "The build never successfully completed.",
    "I haven't finished implementing it.",
    "Once all changes have been made it will work.",
    "When the task is complete it prints a line.",
    "Until everything is now in one place, wait.",
    "If the bug is fixed the test passes.",
    "Almost everything is now converted.",
    "All changes have been made except the last one.",
    "The task is complete once the tests pass.",
    "All files have been converted apart from two.",
]


@each_row("text", DENIED)
def test_a_completion_that_is_denied_or_depends_is_none(text: str) -> None:
    assert not RULES.completion_phrases.are_claimed_in(split_sentences(text))
    assert judge(f"{text} Now let me continue.").action == "auto_continue"


@each_row(
    "text",
    [
        "The tests do not fail, so the task is complete.",
        "There was no error. The task is complete.",
        "I did not touch the docs and all changes have been made.",
        "It was not easy: I'm done.",
        "Not easy! I'm done.",
        "I'm done, if not proud.",
        "If it rains, I am glad that the task is complete.",
    ],
)
def test_a_denial_of_something_else_takes_nothing_away(text: str) -> None:
    assert RULES.completion_phrases.are_claimed_in(split_sentences(text))


@each_row(
    "text",
    [
        "I will not proceed with this.",
        "I can't proceed with it.",
        "Before I proceed with it, the backup has to be there.",
        "Until the build is green I'll continue nothing.",
    ],
)
def test_an_intent_can_be_denied_or_put_off_too(text: str) -> None:
    assert not RULES.intent_phrases.are_meant_in(split_sentences(text))


@pytest.mark.parametrize(
    "text",
    [
        "It did not work, so let me try again.",
        "Never mind: now let me continue.",
        "After that I'll continue with the views.",
    ],
)
def test_an_intent_stands_beside_a_denial(text: str) -> None:
    assert RULES.intent_phrases.are_meant_in(split_sentences(text))


@pytest.mark.parametrize(
    "text", ["Let me continue with a summary.", "Now let me summarize what I did."]
)
def test_going_on_with_a_summary_finishes(text: str) -> None:
    assert judge(text).action == "finish"


@each_row(
    ("phrase", "why"),
    [
        ("", "no word"),
        (" . ", "no word"),
        ("_", "no word"),
        ("'", "no word"),
        ("a" * 121, "at most 120 characters"),
        ("a " * 13, "at most 12 words"),
        ("done. really", "one sentence"),
    ],
)
def test_what_is_no_phrase_is_told(phrase: str, why: str) -> None:
    assert why in (find_phrase_problem(phrase) or "")


def test_only_sentences_that_may_hold_a_phrase_are_looked_at() -> None:
    """A long text of short lines has a hundred thousand sentences."""
    phrases = Phrases(("let me know", "a question for you"))
    idle = "Let\nMe\nA. B.\n1\n" * 100
    assert find_places_to_look(split_sentences(idle), phrases) == []
    sentences = split_sentences(idle + "Let me know.\nKnow it.\nLet it be.")
    looked_at = [
        sentences[place].words for place in find_places_to_look(sentences, phrases)
    ]
    assert set(looked_at) == {("let",), ("let", "me", "know"), ("let", "it", "be")}


@examples(200)
@given(st.lists(st.sampled_from(["let", "me", "know", "a", "it", ". ", "\n", ","])))
def test_what_is_not_looked_at_holds_no_phrase(parts: list[str]) -> None:
    lists = Phrases(("let me know", "a")), Phrases(("know it", "me"))
    sentences = split_sentences(" ".join(parts))
    places = find_places_to_look(sentences, *lists)
    for each in lists:
        assert set(each.find_sentences(sentences)) <= set(places)
