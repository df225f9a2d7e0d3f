"""The head of a request to /api/: refused if two programs could read it differently."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import parse_qs, unquote_to_bytes

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from common.errors import BadEncoding, Malformed
from config.fastpath.asgi import Scope, get_header, index_headers

HEADER_COUNT = 100
HEADER_BYTES = 32_768
_ONCE = (
    *(b"host", b"content-type", b"content-encoding"),
    *(b"idempotency-key", b"last-event-id"),
)


def check_head(scope: Scope) -> None:
    headers = scope["headers"]
    size = sum([len(name) + len(value) for name, value in headers])
    if len(headers) > HEADER_COUNT or size > HEADER_BYTES:
        raise Malformed(f"At most {HEADER_COUNT} headers of {HEADER_BYTES:,} bytes.")
    if len(index_headers(scope)) < len(headers):
        names = [name for name, _ in headers]
        for name in _ONCE:
            if names.count(name) > 1:
                raise Malformed(f"Send one {name.decode().title()} header.")
    _check_host(get_header(scope, b"host"))
    _check_query(scope["query_string"])


def _check_host(host: str | None) -> None:
    """Django checks this of its own requests; the fast path must check it too."""
    if host is None:
        return
    if not _is_served(host, tuple(settings.ALLOWED_HOSTS)):
        raise Malformed("The Host header names a host that is not served here.")


@lru_cache(maxsize=64)
def _is_served(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


def _check_query(raw: bytes) -> None:
    if not raw:
        return
    try:
        text = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError:
        raise BadEncoding("The query is not valid UTF-8.") from None
    if "\0" in text:
        raise BadEncoding("The query holds the NUL character.")


def parse_query(scope: Scope) -> dict[str, str]:
    """Where a name stands twice, the last one counts, as in Django."""
    text = scope["query_string"].decode("latin-1")
    query = parse_qs(text, keep_blank_values=True)
    return {name: values[-1] for name, values in query.items()}
