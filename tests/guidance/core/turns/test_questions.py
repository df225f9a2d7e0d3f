"""Questions: seen wherever a person is asked, and not where nobody is."""

from __future__ import annotations

import pytest

from guidance.core.turns.questions import SENTENCE_SHOWN, find_question
from guidance.core.turns.sentences import split_sentences
from tests.guidance.core.turns.builders import judge, keenly
from tests.support.rows import each_row

REQUESTS = [
    "Shall I proceed with dropping the production table?",
    "Shall I proceed with dropping the production table",
    "Should I delete the old files?",
    "Would you like me to continue?",
    "Do you want the short form or the long one?",
    "Please confirm.",
    "Please confirm that the backup exists before I go on.",
    "May I force-push to main?",
    "Can I remove it?",
    "Could you tell me the password's name?",
    "Let me know whether I should go on.",
    "Let me know which of them you prefer.",
    "Let me know if I should drop it.",
    "Let me know if you'd like me to proceed.",
    "Let me know how you'd like to proceed.",
    "I am waiting for your approval.",
    "Waiting for confirmation.",
    "Awaiting your decision.",
    "I need your permission for that.",
    "I need approval to deploy.",
    "Is it okay to drop the index?",
    "Is that ok?",
    "Ok to proceed?",
    "Once you confirm, I'll delete it.",
    "I will go on with your approval.",
    "It's your call.",
    "Before I proceed with deleting them, I want to make sure you have a backup.",
    "I want to be sure that this is what you intended.",
    "I'll drop the table unless you'd rather keep it.",
    "I'd like to double-check with you first.",
    "Proceed?",
    "Proceed ?",
    "Continue (y/n)",
    "Ready to deploy? [yes/no]",
    "Postgres or SQLite?",
    "Which port?",
    "The port is taken, isn't it?!",
    "**Shall I proceed?**",
    "_Shall_ I **proceed**?",
    "> Shall I proceed?",
    "- Shall I proceed?",
    "## Shall I proceed?",
    "| Shall I proceed? |",
    "SHALL I PROCEED?",
    "shall\ni proceed",
    "Shall\u200b I proceed?",
    "Drop the table `users`?",
    'Drop the table "users"?',
    "Is https://host.test/a?b=1 the right address?",
    "Did you look at https://host.test/a?",
    '"Shall I proceed?"',
    "'Shall I proceed?'",
    'One thing: "Shall I proceed?"',
    "```\nls\n\nShall I proceed?",
    "```\nls\n\nShall I proceed?\n```sh\nls\n```",
    "<think>Shall I proceed?",
    "```ls``` Shall I proceed?",
    'A 5" disk. Shall I proceed with "that"?',
    "要继续吗\uff1f",
    "¿Borro la tabla?",
]


@each_row("text", REQUESTS)
@each_row(
    "around", ["{}", "Let me continue. {}", "{} Now let me continue.", "Done.\n\n{}\n"]
)
def test_who_asks_is_never_sent_on(text: str, around: str) -> None:
    verdict = keenly(around.format(text))
    assert verdict.action in ("needs_human", "finish")
    if around == "{}":
        assert verdict.action == "needs_human"
        assert verdict.question


@pytest.mark.parametrize(
    "text",
    [
        "`Shall I proceed?`",
        "```\nShall I proceed?\n```",
        "<think>Hm.</think>\n```\nShall I proceed?\n```\n",
    ],
)
def test_code_with_nothing_around_it_is_what_the_agent_says(text: str) -> None:
    assert keenly(text).action == "needs_human"


NOBODY_ASKED = [
    "Now let me continue.",
    "```sql\nselect a from b where c = ?\n-- shall I?\n```\nNow let me run it.",
    "~~~\nShall I proceed?\n~~~\nNow let me continue.",
    "````md\n```\nShall I?\n```\n````\nNow let me continue.",
    'The dialog says "Do you want to save?" now. Let me continue.',
    "The dialog says “Do you want to save?” now. Let me continue.",
    "The dialog says 'Do you want to save?' now. Let me continue.",
    "I run `test ?` next. Let me continue.",
    "I fetched https://host.test/find?q=should+i&you=1 and now let me continue.",
    "I fetched www.host.test/find?q=1 and now let me continue.",
    "Let me continue with WHERE id = ?",
    "Now let me fix value?.name in it.",
    "Why does it fail? Because the path is wrong. Now let me fix it.",
    "Is the file there? Let me check.",
    "Did it pass? No. Now let me fix it.",
    "So what is wrong? It turns out that nothing is. Let me continue.",
    "## What is left?\n\nThe tests. Now let me continue.",
    "<think>Should I use a list? Yes.</think>Now let me continue.",
    "I've used your input. Now let me continue.",
    "Now I'll confirm whether the tests pass.",
]


@each_row("text", NOBODY_ASKED)
def test_what_asks_nobody_goes_on(text: str) -> None:
    verdict = keenly(text)
    assert verdict.question is None
    assert verdict.action == "auto_continue"


@each_row(
    "text",
    [
        "Proceed? I'll wait.",
        "Proceed? No changes were made yet.",
        "Is dropping it acceptable? I'll do it now.",
        "Is dropping it right? No tests were run.",
        "Why is it gone? Let me check with you.",
        "Why is it gone? And where?",
        "Why is it gone?\n\nBecause.",
        "## Proceed?\n\n- yes\n- no",
        "Why?",
    ],
)
def test_a_question_is_not_answered_by_just_any_sentence(text: str) -> None:
    assert keenly(text).action == "needs_human"


OFFERS = [
    "Let me know if you'd like changes.",
    "Let me know if you'd like me to make any changes.",
    "Let me know if I can help with anything else.",
    "Let me know if I missed anything.",
    "If you want, I can also write the docs.",
    "Feel free to change it.",
    "Please review my changes.",
    "I can go on whenever you're ready.",
    "You'll need to set the key.",
]


@each_row("text", OFFERS)
def test_an_offer_after_finished_work_finishes(text: str) -> None:
    verdict = judge(f"It works. {text}", last_event="assistant")
    assert (verdict.action, verdict.question) == ("finish", None)
    assert judge(f"The task is complete. {text}").action == "finish"


@each_row("text", OFFERS)
def test_an_offer_in_the_middle_of_work_is_left_to_a_person(text: str) -> None:
    verdict = keenly(f"I still need to fix two tests. {text}")
    assert (verdict.action, verdict.question) == ("needs_human", text)
    todos = judge(f"The task is complete. {text}", pending_todos=2)
    assert (todos.action, todos.question) == ("needs_human", text)


@each_row(
    ("text", "question"),
    [
        ("I found it. Shall I drop `users`? I can.", "Shall I drop `users`?"),
        ("Plan\nShall I\n  go on?\nBye", "Shall I go on?"),
        ("1. Which one?\n2. May I?", "May I?"),
        ("* **Shall I go on?** *", "Shall I go on?"),
        ("Wait — shall I? Really?", "Wait — shall I?"),
        ("???", "?"),
    ],
)
def test_the_sentence_that_asks_is_shown_as_it_was_written(
    text: str, question: str
) -> None:
    assert judge(text).question == question


def test_a_very_long_question_is_cut() -> None:
    question = judge("Shall I " + "very " * 1_000 + "well?").question
    assert question is not None
    assert len(question) == SENTENCE_SHOWN
    assert question.endswith("…")


def test_nothing_asks_nothing() -> None:
    assert find_question(split_sentences("")) == (None, None)
