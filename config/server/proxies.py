"""Forwarded addresses and schemes are believed from configured proxies, and from nobody else.

Here and not by the server's own option, so that every way to start it behaves the same.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from config.fastpath.asgi import App


def trust_proxies(inner: App, proxies: Sequence[str]) -> App:
    """`X-Forwarded-For` and `X-Forwarded-Proto` of these become client and scheme."""
    if not proxies:
        return inner
    # The types of ASGI are uvicorn's own there.
    believing = ProxyHeadersMiddleware(inner, trusted_hosts=list(proxies))  # type: ignore[arg-type]
    return believing  # type: ignore[return-value]


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
