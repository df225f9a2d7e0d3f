"""Where a webhook goes: an address of the right form, resolved once, judged whole."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from webhooks.addresses import (
    Address,
    is_public,
    parse_address,
    parse_allowed,
)

URL_LIMIT = 2_000
PORTS = {"https": 443, "http": 80}

Resolver = Callable[[str, int], Sequence[str]]


class Refused(Exception):
    """Not an address that is called. The words are for the person who set it."""


class Unresolved(Exception):
    """Nobody knows the name just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The parts of a webhook's URL; `host` is a name or a literal, in small letters."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The Host header: without the port where everybody expects it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def at(self, address: Address) -> str:
        """The same URL at one exact address: nothing is left to be looked up."""
        host = f"[{address}]" if address.version == 6 else str(address)
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def read_url(url: str) -> Target:
    """Judges the form alone; nothing is looked up."""
    if len(url) > URL_LIMIT:
        raise Refused(f"The URL is longer than {URL_LIMIT:,} characters.")
    if not re.fullmatch(r"[!-~]+", url) or "\\" in url:
        raise Refused(
            "The URL may hold visible ASCII characters only: write a name in its xn-- "
            "form and anything else percent-encoded."
        )
    try:
        parts = urlsplit(url)
        # The dot of a full name says nothing more, and some resolvers stumble over it.
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        raise Refused("This is no URL: its host or port cannot be read.") from None
    if parts.scheme not in PORTS or not host or port == 0:
        raise Refused("Give a full URL, such as https://hooks.example/checkrail.")
    if "@" in parts.netloc:
        raise Refused(
            "The URL may not hold a user or a password: receivers check the signature."
        )
    if "#" in url:
        raise Refused("The URL may not hold a fragment: it would never be sent.")
    return Target(
        scheme=parts.scheme,
        host=host,
        port=PORTS[parts.scheme] if port is None else port,
        path=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
    )


def resolve(host: str, port: int) -> list[str]:
    """Every address of the host, once each, in the system's order."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unresolved(f"{host} cannot be resolved") from error
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def judged(target: Target, answers: Sequence[str]) -> list[Address]:
    """All of the answers, if every one of them may be called; else Refused.

    One private address among public ones refuses all: whoever answers for the name
    chooses which of them is used.
    """
    addresses = [parse_address(answer) for answer in answers]
    if not addresses:
        raise Unresolved(f"{target.host} has no address")
    allowed = parse_allowed(settings.WEBHOOK_ALLOW)
    if allowed.covers(host=target.host, port=target.port, addresses=addresses):
        return addresses
    private = next((each for each in addresses if not is_public(each)), None)
    if private is not None:
        shown = "" if str(private) == target.host else f" ({private})"
        raise Refused(
            f"{target.host}{shown} is not a public address: webhooks go to the public "
            "internet only, unless CHECKRAIL_WEBHOOK_ALLOW names the receiver."
        )
    if target.scheme != "https":
        raise Refused("The URL must begin with https://.")
    return addresses
