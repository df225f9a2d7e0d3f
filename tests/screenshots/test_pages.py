"""Every page of the console is among the pictures."""

from __future__ import annotations

import re

from django.test import Client
from django.urls import get_resolver, resolve

from tests.screenshots.pages import PROJECT, PUBLIC

SOME_ID = "00000000-0000-7000-8000-000000000000"
SOME = {"uuid": SOME_ID, "int": "1", "str": "default", "slug": "demo"}
# Answered to a GET, but no page of their own: redirects, parts of pages, files, links by mail.
NO_PAGES = {
    *(
        "home",
        "settings",
        "review-agent-wait",
        "review-delivery",
        "password-link",
        "palette",
        "newest-reviews",
    ),
    *("runs-csv", "backtest-csv", "backtest-json"),
    # Taken for each kind of review that is open.
    "review",
}


def list_addresses() -> dict[str, str]:
    """A path for each name of the console, with some value for each parameter."""
    console = get_resolver().namespace_dict["console"][1]
    found = {}
    for name in console.reverse_dict:
        if isinstance(name, str):
            (path, parameters), *_ = console.reverse_dict.getlist(name)[0][0]
            converters = console.reverse_dict.getlist(name)[0][3]
            values = {it: SOME[_name(converters[it])] for it in parameters}
            found[name] = "/" + path % values
    return found


def _name(converter: object) -> str:
    return (
        type(converter)
        .__name__.removesuffix("Converter")
        .lower()
        .replace("string", "str")
    )


def test_no_page_is_missing(database: None) -> None:
    client = Client()
    addresses = list_addresses()
    assert len(addresses) > 90
    pages = {
        name for name, path in addresses.items() if client.get(path).status_code != 405
    }
    taken = set()
    for shot in (*PUBLIC, *PROJECT):
        path = re.sub(r"\{\w+\}", SOME_ID, shot.path).partition("?")[0]
        if shot.name == "invitation":
            path = "/join/secret/"
        whole = path if path.startswith("/") else f"/p/demo/{path}"
        if shot.status == 200:
            taken.add(resolve(whole).url_name)
    assert pages - taken - NO_PAGES == set()
