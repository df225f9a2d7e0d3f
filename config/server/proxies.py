"""Forwarded addresses and schemes are believed from configured proxies, and from nobody else.

Here and not by the server's own option, so that every way to start it behaves the same.
"""

from __future__ import annotations

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
