"""What may be named as a proxy: addresses and networks, but not everybody."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence


def check_proxies(proxies: Sequence[str]) -> None:
    """ValueError for what is no address and no network, and for the whole internet."""
    for proxy in proxies:
        try:
            network = ipaddress.ip_network(proxy)
        except ValueError:
            raise ValueError(
                f"{proxy!r} is no address and no network, such as 127.0.0.1 or 10.1.0.0/16"
            ) from None
        if network.prefixlen == 0:
            raise ValueError(f"{proxy!r} is everybody: name the proxies alone")
