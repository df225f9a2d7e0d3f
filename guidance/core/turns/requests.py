"""The wordings by which an agent asks a person, and those by which it only offers.

As in every list of phrases, "it's" also finds "it is", and marks do not count.
"""

from __future__ import annotations

from collections.abc import Iterator

from guidance.core.turns.phrases import Phrases


def _combine_parts(firsts: str, lasts: str) -> Iterator[str]:
    """Every first part with every last part; parts are told apart by a stroke."""
    for first in firsts.split(" | "):
        for last in lasts.split(" | "):
            yield f"{first} {last}"


_FINE = "ok | okay | fine | alright | all right | acceptable"
_WORD = "approval | confirmation | permission | consent"
_WAITING = (
    "waiting for | waiting on | wait for | wait on | awaiting | await | pending "
    "| requesting | seeking | ask for | asking for"
)
_GO = "proceed | continue | go on | go ahead | start"

REQUESTS = Phrases(
    (
        # May I?
        *_combine_parts("shall | should | may | might | can | could", "i"),
        *_combine_parts("shall | should", "we"),
        *_combine_parts("can we | could we", _GO),
        *_combine_parts("would | could | can | will | do | are", "you"),
        *_combine_parts("did you", "want | mean | intend | expect"),
        *("do i have your", "do i have permission", "do we have your"),
        # Is that all right?
        *_combine_parts(
            "is it | is that | is this | would it be | would that be", _FINE
        ),
        *_combine_parts("if it's | if that's | if this is", _FINE),
        *_combine_parts(_FINE, "with you | by you | for you | if i"),
        *_combine_parts("ok to | okay to", "proceed | continue"),
        *("if that works for you", "unless you", "what you intended", "you intended"),
        *_combine_parts(
            "want to make sure | like to make sure | need to make sure",
            "you | that you | this is what you | that's what you",
        ),
        *_combine_parts("check | confirm | verify | clarify", "with you"),
        # Please say so.
        *_combine_parts(
            "please | kindly",
            "confirm | approve | advise | clarify | specify | choose | select | pick "
            "| decide | tell me | provide | supply | share | reply | respond | answer "
            "| grant | authorize | authorise | indicate | instruct | say | give me "
            "| sign off | allow",
        ),
        *_combine_parts(
            "you", "confirm | approve | agree | authorize | authorise | decide"
        ),
        *("you say so", "you say go", "say the word", "say yes", "answer yes"),
        *("reply yes", "reply with yes", "respond with yes", "type yes"),
        # Nothing happens before you do.
        *_combine_parts(
            _WAITING, f"your | {_WORD} | the go ahead | further instructions"
        ),
        *_combine_parts(
            "i need | we need",
            f"{_WORD} | clarification | a decision | more information",
        ),
        *_combine_parts(
            "need | needs | require | requires | request | seek | subject to", "your"
        ),
        *_combine_parts(
            "without your | with your | get your",
            f"{_WORD} | ok | okay | go ahead | input",
        ),
        *("need you to", "i need to ask", "i'd like to ask"),
        *("wait for you", "waiting for you", "waiting on you", "wait until you"),
        *_combine_parts(
            "permission to | approval to | confirmation to", "proceed | continue"
        ),
        *("your permission", "your go ahead", "your green light", "ask you"),
        *("ask your", "asking your", "ask permission", "give me the green light"),
        # Let me know whether.
        *_combine_parts(
            "let me know", "whether | which | what | when | where | who | your"
        ),
        *_combine_parts("let me know how", "you | to | i | we"),
        *_combine_parts("let me know", "before | to proceed | so i"),
        *_combine_parts("let me know if", "i should | i may | i must | we should"),
        *_combine_parts("let me know if", "that works | this works for you"),
        *_combine_parts("let me know if i can", _GO),
        *_combine_parts(
            "let me know if you want me to | let me know if you'd like me to", _GO
        ),
        *_combine_parts(
            "let me know if you want to | let me know if you'd like to", _GO
        ),
        *_combine_parts(
            "tell me", "whether | which | what you | how you | when you | if i should"
        ),
        # It is for you to say.
        *("it's your call", "it's your decision", "up to you"),
        *("leave it to you", "leave that to you", "leave this to you"),
        *("i have a question", "i have one question", "i have some questions"),
        *("i have a few questions", "a question for you", "questions for you"),
        *("quick question",),
    )
)

# As good as a question mark: (y/n).
CHOICES = Phrases(("yes or no", "yes no", "y n"))

OFFERS = Phrases(
    (
        *("let me know", "tell me if", "feel free to", "happy to"),
        *_combine_parts(
            "if", "you'd like | you want | you need | you wish | you prefer"
        ),
        *_combine_parts("when | whenever | once", "you're ready"),
        *_combine_parts("please", "review | check | verify | test | take a look"),
        *_combine_parts(
            "you", "will need to | need to | have to | must | will have to"
        ),
        *("any questions", "any feedback", "your thoughts"),
    )
)
