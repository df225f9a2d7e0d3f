"""Who is closed when there are too many connections, and who is counted together."""

from __future__ import annotations

import asyncio

import pytest
from django.test.utils import override_settings

from config.server import connections
from config.server.connections import Connections


class Caller:
    """A connection that only remembers what became of it."""

    expired = False
    aborted = False
    checks = 0
    fails = False

    def check(self, now: float) -> None:
        self.checks += 1
        if self.fails:
            raise RuntimeError("This one cannot be checked.")

    def evict(self) -> None:
        self.expired = True
        if self.fails:
            raise RuntimeError("This one cannot be closed.")

    def abort(self) -> None:
        self.aborted = True


def add(all_: Connections, address: str | None = "192.0.2.1") -> tuple[Caller, bool]:
    caller = Caller()
    return caller, all_.add(caller, (address, 4000) if address else None)


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=3)
async def test_who_waits_longest_makes_room() -> None:
    all_ = Connections()
    first, second, third = (add(all_)[0] for _ in range(3))
    all_.set_waiting(first, False)  # its request is whole and being answered
    all_.set_waiting(second, True)  # its head is here: it waits anew, for its body

    fourth, welcome = add(all_)

    assert welcome
    assert [one.expired for one in (first, second, third)] == [False, False, True]
    all_.set_waiting(second, False)
    all_.set_waiting(fourth, False)
    assert add(all_)[1] is False  # everybody else is being answered
    assert add(all_, "192.0.2.2")[1] is True
    all_.remove(first)
    assert add(all_)[1] is True  # it takes the place of the one that was refused


@override_settings(CONNECTIONS=16, ADDRESS_CONNECTIONS=100)
async def test_no_address_takes_more_than_half_of_all() -> None:
    all_ = Connections()
    taken = [add(all_)[0] for _ in range(16)]

    assert sum(one.expired for one in taken) == 8
    others = [add(all_, f"192.0.2.{10 + number}")[0] for number in range(10)]
    assert [one.expired for one in taken].count(False) == 6
    assert not any(one.expired for one in others)


@override_settings(CONNECTIONS=64, ADDRESS_CONNECTIONS=2, PROXIES=("10.1.0.0/16",))
async def test_addresses_are_what_one_caller_can_have() -> None:
    all_ = Connections()
    for one_caller in (
        ["2001:db8:1:2::1", "2001:db8:1:2:ffff::2", "2001:db8:1:2::3"],
        ["198.51.100.7", "::ffff:198.51.100.7", "198.51.100.7"],
    ):
        added = [add(all_, address)[0] for address in one_caller]
        assert [one.expired for one in added] == [True, False, False]
    for many_callers in (
        ["2001:db8:1:2::9", "2001:db8:1:3::9", "2001:db8:1:4::9"],
        ["10.1.2.3"] * 5,  # a proxy keeps count itself
        [None] * 5,  # a Unix socket
    ):
        before = [add(all_, address) for address in many_callers]
        assert all(welcome for _, welcome in before)
        assert not any(one.expired for one, _ in before)


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=2)
async def test_few_are_left_in_closing_and_all_of_them_are_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.01)
    monkeypatch.setattr(connections, "CLOSING_LIMIT", 3)
    all_ = Connections()
    callers = [add(all_)[0] for _ in range(8)]

    assert [one.expired for one in callers] == [True] * 6 + [False] * 2
    assert [one.aborted for one in callers] == [True] * 3 + [False] * 5
    for one in (*callers[:3], *callers[6:]):
        all_.remove(one)
    async with asyncio.timeout(60):
        while not all(one.checks > 1 for one in callers[3:6]):
            await asyncio.sleep(0)


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=2)
async def test_one_that_fails_ends_no_deadline_of_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.01)
    all_ = Connections()
    broken, good = (add(all_)[0] for _ in range(2))
    broken.fails = True

    async with asyncio.timeout(60):
        while good.checks <= 1 or not broken.aborted:
            await asyncio.sleep(0)
    assert not good.aborted
    assert "cannot be checked" in caplog.text


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=1)
async def test_one_that_cannot_be_closed_turns_nobody_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    all_ = Connections()
    broken, _ = add(all_)
    broken.fails = True

    assert add(all_)[1] is True
    assert broken.aborted
    assert "cannot be closed" in caplog.text


@override_settings(CONNECTIONS=32, ADDRESS_CONNECTIONS=2)
async def test_who_is_refused_makes_no_room_for_the_next_one() -> None:
    all_ = Connections()
    answered = [add(all_)[0] for _ in range(2)]
    for one in answered:
        all_.set_waiting(one, waiting=False)

    assert [add(all_)[1] for _ in range(4)] == [False] * 4
    all_.remove(answered[0])
    assert add(all_)[1] is True
