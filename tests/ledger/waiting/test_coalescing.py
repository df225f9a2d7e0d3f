"""Projects that changed are sent together, from a thread of their own, none lost."""

from __future__ import annotations

import threading
import time
from queue import Empty, Queue
from types import SimpleNamespace

import pytest

from ledger.waiting import coalescing
from ledger.waiting.coalescing import CoalescingSender

WAIT_S = 60


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_sender_whose_thread_has_ended_starts_another() -> None:
    """Also in a process that was forked: threads stay behind in the parent."""
    sent: Queue[tuple[threading.Thread, list[int]]] = Queue()

    def send(projects: list[int]) -> None:
        sent.put((threading.current_thread(), projects))
        if projects == [1]:
            raise RuntimeError("This ends the thread.")

    sender = CoalescingSender("test", send)
    sender.add([1])
    first, _ = sent.get(timeout=WAIT_S)
    first.join(WAIT_S)

    sender.add([2])

    assert sent.get(timeout=WAIT_S)[1] == [2]


def test_it_gathers_before_or_after_it_sends_and_sends_nothing_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: Queue[object] = Queue()

    def sleep(seconds: float) -> None:
        """Other senders of this process go on as before."""
        if threading.current_thread().name == "gathering":
            done.put(seconds)
        else:
            time.sleep(seconds)

    monkeypatch.setattr(coalescing, "time", SimpleNamespace(sleep=sleep))
    sender = CoalescingSender("gathering", done.put, before_s=0.5, after_s=0.25)

    for project in (1, 2):
        sender.add([project])
        told = [done.get(timeout=WAIT_S) for _ in range(3)]
        assert told == [0.5, [project], 0.25]

    with pytest.raises(Empty):
        done.get(timeout=0.05)
