"""Answers as bytes, to requests that the application never gets as a whole."""

from __future__ import annotations

from http import HTTPStatus

from common.errors import DomainError


def build_refusal(error: DomainError, path: str) -> bytes:
    """A problem; for a hook 200 with JSON that holds: all else lets its host go on."""
    # Late, as uvicorn imports its protocol class before Django has loaded the apps.
    from config.fastpath import fail_closed
    from config.fastpath.problems import MEDIA_TYPE, render_problem

    if path.startswith(fail_closed.PREFIX):
        body = fail_closed.build_denial({"path": path}, error.detail)
        headers = [fail_closed.OURS, (fail_closed.TROUBLE, error.slug)]
        return _build(HTTPStatus.OK, "application/json; charset=utf-8", body, headers)
    headers = [*error.headers.items()]
    return _build(HTTPStatus(error.status), MEDIA_TYPE, render_problem(error), headers)


def _build(
    status: HTTPStatus, media_type: str, body: bytes, headers: list[tuple[str, str]]
) -> bytes:
    lines = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"content-type: {media_type}",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        *(f"{name.lower()}: {value}" for name, value in headers),
        "connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body
