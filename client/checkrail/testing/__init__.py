"""For tests of your own agent: a Checkrail without a network, that does what you say.

    with fake_checkrail(decisions=["continue", "pause"], rulings=[approve()]) as rail:
        my_agent()                    # its Checkrail() talks to the fake
    assert rail.sent("POST", "/steps")[0]["tokens"] == 1830

What is not scripted goes well: steps continue, calls are allowed. A person who is asked
and not scripted fails the test, because a real agent would wait for ever. Time is the
fake's own: nobody really sleeps or waits.
"""

from __future__ import annotations

from checkrail.testing.rail import FakeRail, fake_checkrail
from checkrail.testing.scripts import (
    Scripted,
    abort,
    amend,
    answer,
    approve,
    deny,
    expire,
    nobody,
    retry,
    skip,
)

__all__ = [
    "FakeRail",
    "Scripted",
    "abort",
    "amend",
    "answer",
    "approve",
    "deny",
    "expire",
    "fake_checkrail",
    "nobody",
    "retry",
    "skip",
]
