"""Every page of the console is among the pictures."""

from __future__ import annotations

import re

from django.urls import get_resolver, resolve

from accounts.models import Project, Role
from tests.screenshots.pages import PROJECT, PUBLIC
from tests.support.browsing import fragment, open_browser
from tests.support.builders import make_person

SOME_ID = "00000000-0000-7000-8000-000000000000"
SOME = {"uuid": SOME_ID, "int": "1", "str": "default"}
# Answered to a GET, but no page of their own: redirects, parts of pages, files, links by mail.
NO_PAGES = {
    *(
        "home",
        "settings",
        "review-agent-wait",
        "review-delivery",
        "password-link",
        "palette",
        "address",
        "halt-effect",
        "limit-halt",
        "newest-reviews",
    ),
    *("runs-csv", "backtest-csv", "backtest-json"),
    # Taken for each kind of review that is open.
    "review",
}


def list_addresses(slug: str) -> dict[str, str]:
    """A path for each name of the console, with some value for each parameter."""
    console = get_resolver().namespace_dict["console"][1]
    found = {}
    for name in console.reverse_dict:
        if isinstance(name, str):
            (path, parameters), *_ = console.reverse_dict.getlist(name)[0][0]
            converters = console.reverse_dict.getlist(name)[0][3]
            some = {**SOME, "slug": slug}
            values = {it: some[_name(converters[it])] for it in parameters}
            found[name] = "/" + path % values
    return found


def _name(converter: object) -> str:
    return (
        type(converter)
        .__name__.removesuffix("Converter")
        .lower()
        .replace("string", "str")
    )


def test_no_page_is_missing(project: Project) -> None:
    client = open_browser(make_person("eve", project=project, role=Role.ADMIN).user)
    addresses = list_addresses(project.slug)
    assert len(addresses) > 90
    # Where forms go htmx is told so; a browser is led to the page.
    pages = {
        name
        for name, path in addresses.items()
        if fragment(client, path).status_code != 405
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
