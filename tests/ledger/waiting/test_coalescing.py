"""Projects that changed are sent together, from a thread of their own, none lost."""

from __future__ import annotations

import threading
from queue import Queue

from ledger.waiting.coalescing import CoalescingSender

WAIT_S = 10


def test_what_is_added_during_a_send_becomes_one_message() -> None:
    sent: Queue[list[int]] = Queue()
    release = threading.Event()

    def send(projects: list[int]) -> None:
        sent.put(projects)
        release.wait(WAIT_S)

    sender = CoalescingSender("test", send)
    sender.add([1])
    assert sent.get(timeout=WAIT_S) == [1]
    for projects in ([3], [2], [3, 2]):
        sender.add(projects)
    release.set()
    assert sent.get(timeout=WAIT_S) == [2, 3]
    sender.add([1])
    assert sent.get(timeout=WAIT_S) == [1]


def test_adding_does_not_wait_for_the_receiver() -> None:
    release, finished = threading.Event(), threading.Event()

    def send(_projects: list[int]) -> None:
        release.wait(WAIT_S)
        finished.set()

    sender = CoalescingSender("test", send)
    sender.add([1])
    sender.add([2])
    assert not finished.is_set()
    release.set()
    assert finished.wait(WAIT_S)
