"""Put the table in force: what is not in it does not start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.core.exceptions import ImproperlyConfigured
from django.urls import URLPattern, URLResolver
from ninja import NinjaAPI
from ninja.operation import Operation

from config.access.operations import OPERATIONS
from config.access.pages import PAGES
from console.access import guard

PROJECT = "p/<slug:slug>/"


def list_operations(api: NinjaAPI) -> Iterator[tuple[str, Operation]]:
    for _, router in api._routers:
        for path, view in router.path_operations.items():
            for operation in view.operations:
                for method in operation.methods:
                    yield f"{method} {path}", operation


def list_pages(
    patterns: Iterable[URLPattern | URLResolver], before: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    for each in patterns:
        address = before + str(each.pattern)
        if isinstance(each, URLPattern):
            yield address, each
        else:
            yield from list_pages(each.url_patterns, address)


def guard_operations(api: NinjaAPI) -> None:
    for name, operation in list_operations(api):
        if name not in OPERATIONS:
            raise ImproperlyConfigured(f"Who may use {name}? It is in no table.")
        operation.auth_callbacks = OPERATIONS[name].build_auth()


def guard_pages(patterns: Iterable[URLPattern | URLResolver]) -> None:
    """Guard the pages of projects; the others are nobody's or the reader's own."""
    for address, page in list_pages(patterns):
        if not address.startswith(PROJECT):
            continue
        name = address.removeprefix(PROJECT)
        if name not in PAGES:
            raise ImproperlyConfigured(f"Who may open {address}? It is in no table.")
        page.callback = guard(page.callback, PAGES[name])
