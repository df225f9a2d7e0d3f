"""Where a webhook is sent: parse its URL, resolve the host once, check every address."""

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
    """The URL may not be called. The message is shown to the person who entered it."""


class Unresolved(Exception):
    """The host cannot be resolved right now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The parts of a webhook's URL; `host` is a name or an IP address, in lower case."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The Host header, without the scheme's default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    def build_url(self, address: Address) -> str:
        """The URL with an IP address for its host, so that nothing is resolved again."""
        host = f"[{address}]" if address.version == 6 else str(address)
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse_url(url: str) -> Target:
    """Check the form of a URL; nothing is resolved."""
    if len(url) > URL_LIMIT:
        raise Refused(f"The URL is longer than {URL_LIMIT:,} characters.")
    if not re.fullmatch(r"[!-~]+", url) or "\\" in url:
        raise Refused(
            "The URL may contain visible ASCII characters only: write the host in its "
            "xn-- form and percent-encode the rest."
        )
    try:
        parts = urlsplit(url)
        # Some resolvers fail on the trailing dot of a full name.
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        raise Refused(
            "This is not a valid URL: its host or port cannot be read."
        ) from None
    if parts.scheme not in PORTS or not host or port == 0:
        raise Refused("Enter a full URL, such as https://hooks.example/checkrail.")
    if "@" in parts.netloc:
        raise Refused(
            "The URL may not contain a user or a password: receivers check the signature."
        )
    if "#" in url:
        raise Refused("The URL may not contain a fragment: it would never be sent.")
    return Target(
        scheme=parts.scheme,
        host=host,
        port=PORTS[parts.scheme] if port is None else port,
        path=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
    )


def resolve(host: str, port: int) -> list[str]:
    """Every address of the host, without repeats, in the system's order."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unresolved(f"{host} cannot be resolved") from error
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def check_addresses(target: Target, answers: Sequence[str]) -> list[Address]:
    """Return the resolved addresses if every one may be called, else raise Refused.

    One private address among public ones refuses all: the receiver's DNS decides which
    of them would be used.
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
