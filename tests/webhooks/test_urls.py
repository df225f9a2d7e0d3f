"""URLs of receivers: why one is refused, and what is asked of whom for the others."""

from __future__ import annotations

import pytest

from tests.support.rows import each_row
from tests.webhooks.receivers import receiving
from tests.webhooks.test_guard import attempt
from webhooks.addresses import parse_address, parse_allowed
from webhooks.targets import (
    URL_LIMIT,
    Refused,
    Unresolved,
    check_addresses,
    parse_url,
    resolve,
)

pytestmark = pytest.mark.once("judges addresses and answers, not what is stored")
LONGEST = "https://hooks.example/".ljust(URL_LIMIT, "x")


@each_row(
    ("url", "words"),
    [
        (LONGEST + "x", "longer than 2,000"),
        ("https://höoks.example/", "visible ASCII"),
        ("https://hooks.example/a b", "visible ASCII"),
        ("https://hooks.example\\@10.0.0.1/", "visible ASCII"),
        ("https://hooks.example:x/", "not a valid URL"),
        ("https://hooks.example:65536/", "not a valid URL"),
        ("ftp://hooks.example/", "full URL"),
        ("https:///x", "full URL"),
        ("https://./x", "full URL"),
        ("https://hooks.example:0/", "full URL"),
        ("https://user@hooks.example/", "user or a password"),
        ("https://@hooks.example/", "user or a password"),
        ("https://hooks.example/#x", "fragment"),
        ("https://hooks.example/#", "fragment"),
    ],
)
def test_a_url_is_refused_for_its_form(url: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        parse_url(url)


@each_row(
    ("url", "address", "called", "named"),
    [
        ("https://Hooks.Example", "93.1.1.1", "https://93.1.1.1:443/", "hooks.example"),
        ("http://h.example?a=1", "93.1.1.1", "http://93.1.1.1:80/?a=1", "h.example"),
        ("https://h.example.:443/x", "2606::1", "https://[2606::1]:443/x", "h.example"),
        ("https://h.example:80/", "93.1.1.1", "https://93.1.1.1:80/", "h.example:80"),
        ("http://h.example:443/", "93.1.1.1", "http://93.1.1.1:443/", "h.example:443"),
        ("https://[2606::1]/", "2606::1", "https://[2606::1]:443/", "[2606::1]"),
        ("https://[2606::1]:8/", "2606::1", "https://[2606::1]:8/", "[2606::1]:8"),
        (
            "https://h.example:65535/",
            "93.1.1.1",
            "https://93.1.1.1:65535/",
            "h.example:65535",
        ),
    ],
)
def test_the_address_is_called_and_the_name_is_said(
    url: str, address: str, called: str, named: str
) -> None:
    target = parse_url(url)
    assert target.build_url(parse_address(address)) == called
    assert target.authority == named


def test_the_longest_url_is_taken() -> None:
    assert len(parse_url(LONGEST).path) == URL_LIMIT - len("https://hooks.example")


def test_the_refusal_names_the_address_unless_it_stands_in_the_url() -> None:
    for url, words in (
        ("https://inside.example/", r"inside.example \(10.0.0.1\) is not a public"),
        ("https://10.0.0.1/", "10.0.0.1 is not a public"),
    ):
        with pytest.raises(Refused, match=words):
            check_addresses(parse_url(url), ["93.184.216.34", "10.0.0.1"])


def test_ports_of_allowed_receivers_are_those_there_are() -> None:
    assert parse_allowed(["host:65535", "host:1"]).hosts == {
        ("host", 65535),
        ("host", 1),
    }
    for wrong in ("host:65536", "host:0", "host:", "[::1]"):
        with pytest.raises(ValueError, match="neither"):
            parse_allowed([wrong])


def test_a_name_that_no_resolver_takes_is_not_resolved() -> None:
    with pytest.raises(Unresolved, match="cannot be resolved"):
        resolve("a" * 64 + ".example", 443)
    assert resolve("127.0.0.1", 80) == ["127.0.0.1"]


async def test_where_one_address_takes_no_connection_the_next_is_called(
    settings: pytest.FixtureRequest,
) -> None:
    settings.WEBHOOK_ALLOW = ("127.0.0.0/8",)  # type: ignore[attr-defined]
    with receiving("127.0.0.2") as there:
        url = f"http://two.test:{there.port}/"
        outcome, _ = await attempt(url, ["127.0.0.3", "127.0.0.2", "127.0.0.4"])
        assert outcome.ok, outcome.error
        assert len(there.arrived) == 1
        outcome, _ = await attempt(url, ["127.0.0.3", "127.0.0.4"])
        assert outcome.error == "no connection could be made"
