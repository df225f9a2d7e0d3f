"""IP addresses that webhooks may be sent to: public ones, and those the operator allows.

The lists are kept by hand: Python's `is_global` accepts NAT64, 6to4 and multicast
addresses, through which a private address can be reached.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Networks that hold no public host of somebody else.
_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network: reaches the host itself
            "10.0.0.0/8",
            "100.64.0.0/10",  # carriers' NAT; a cloud's metadata at 100.100.100.200
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's metadata on a public number
            "169.254.0.0/16",  # link-local; metadata at 169.254.169.254
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",  # documentation
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
        ),
    )
)
# Global unicast is one block; mapped, NAT64, unique-local, link-local and multicast
# addresses all lie outside it.
_PUBLIC_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocols: Teredo, benchmarks, ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4: carries any IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)


def is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None or address not in _PUBLIC_6:
        return False
    return not any(address in network for network in _NOT_PUBLIC_6)


@dataclass(frozen=True, slots=True)
class AllowedReceivers:
    """Hosts and networks that need be neither public nor spoken to over https."""

    hosts: frozenset[tuple[str, int]] = frozenset()
    networks: tuple[Network, ...] = ()

    def covers(self, *, host: str, port: int, addresses: Iterable[Address]) -> bool:
        return (host, port) in self.hosts or all(
            any(address in network for network in self.networks)
            for address in addresses
        )


def parse_allowed(entries: Iterable[str]) -> AllowedReceivers:
    """Parse `host:port`, `[::1]:port` and networks such as 10.0.0.0/8, or raise ValueError."""
    hosts, networks = set(), []
    for entry in entries:
        if "/" in entry:
            networks.append(ip_network(entry))
            continue
        host, colon, port = entry.rpartition(":")
        host = host.removeprefix("[").removesuffix("]").lower()
        if not (colon and host and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError(f"{entry} is neither host:port nor a network")
        hosts.add((host, int(port)))
    return AllowedReceivers(frozenset(hosts), tuple(networks))


def parse_address(text: str) -> Address:
    return ip_address(text)
