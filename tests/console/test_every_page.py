"""Who may see which page: every page of the console, by everybody who may not.

The list of pages comes from the addresses themselves: a new one is in the matrix, and
fails it until the door is there and what it shows can be found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import cast

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import Agent, Role, SignIn, User
from console.models import SavedPage, SavedView
from ledger.models import Entry
from tests.config.authorisation import agents, halts, people
from tests.config.authorisation.target import ABSENT
from tests.config.authorisation.world import World
from tests.gateway.calls.calls import command
from tests.support.browsing import FRAGMENT, open_browser
from tests.support.builders import make_person, start_run
from tests.support.live import Live

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")

# Pages of no project. Whoever is signed in sees their own; the rest is for everybody.
OWN = {"", "password/"}
OPEN = {
    *("sign-in/", "sign-out/", "healthz", "readyz", "status", "metrics"),
    "problems/<slug:slug>",
    *("api/v1/docs", "join/<str:secret>/", "password/<uuid:code>/<str:token>/"),
}
OF_A_PROJECT = "p/<slug:slug>/"
CODE = r"[0-9a-f]{8}-[0-9a-f-]{27}"


@cache
def list_pages() -> list[str]:
    """Every address but those of the API, which has a matrix of its own."""
    found = {each for each in _walk(get_resolver()) if not each.startswith("api/v1/")}
    return sorted(found | {"api/v1/docs"})


def _walk(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for each in resolver.url_patterns:
        address = before + str(each.pattern)
        if isinstance(each, URLPattern):
            yield address
        else:
            yield from _walk(each, address)


PROJECT_PAGES = [each for each in list_pages() if each.startswith(OF_A_PROJECT)]
GUARDED = [*PROJECT_PAGES, *sorted(OWN)]


class Pages:
    """A project with something to see at every address, and everybody around it."""

    def __init__(self, live: Live) -> None:
        self.world = World(live)
        agent = self.world.agent
        self.project = self.world.project
        self.manager = open_browser(self.world.manager.user)
        self.admin = open_browser(self.world.admin.user)
        outsider = make_person(
            "outsider", role=Role.ADMIN, project=self.world.elsewhere
        )
        self.outsider = open_browser(outsider.user)
        auditor = make_person("auditor", role=Role.AUDITOR, project=self.project)
        self.auditor = open_browser(auditor.user)
        self.stranger = Client()
        warned, told = self.world.warned(), self.world.told()
        looped = self.world.recommended()
        asked = command(agent, start_run(agent), "rm -rf src")
        permitted = self.world.permitted()
        robot = Agent.objects.get(project=self.project, name="owner")
        # What `code` means depends on what stands before it.
        self.codes: dict[str, str] = {
            "queue/": asked["review"]["id"],
            "runs/": warned.run,
            "agents/": str(robot.code),
            "permissions/": permitted.permission,
            "halts/": halts.halt_run(self.world).halt,
            "calls/": self.world.blocked().call,
            "exemptions/": self.world.exempted().exemption,
            "webhooks/": told.webhook,
            "loop/decisions/": looped.decision_id,
            "loop/recommendations/": looped.recommendation,
            "loop/incidents/": looped.incident,
            "backtests/": self.world.tried().backtest,
            "shadows/": self.world.watched().shadow,
            # The last admin, who cannot be removed.
            "settings/people/": str(self.world.admin.user.code),
            "settings/people/invitations/": people.invited(self.world).invitation,
            "settings/you/tokens/": people.holding_token(self.world).token,
            "settings/you/sign-ins/": self.sign_in_elsewhere(),
        }
        self.codes["runs/views/"] = self.keep_view(SavedPage.RUNS)
        self.codes["queue/views/"] = self.keep_view(SavedPage.QUEUE)
        kept = agents.keep_agent(self.world)
        self.codes["settings/agents/"] = kept.agent
        self.others = {
            "key": kept.key,
            "warning": warned.warning,
            "allowance": self.world.allow(warned.run).allowance,
            "delivery": told.delivery,
            "action": "disable",
            "name": "default",
            "number": "1",
            "seq": "1",
            "setting": "continue.max_rework_ratio",
        }

    def keep_view(self, page: SavedPage) -> str:
        """A view of the admin, who removes it when that is asked for."""
        view = SavedView.objects.create(
            project=self.project,
            owner=self.world.admin.user,
            page=page,
            name="Kept",
            address="",
        )
        return str(view.code)

    def sign_in_elsewhere(self) -> str:
        """Another browser of the admin."""
        other = open_browser(self.world.admin.user)
        other.get(f"/p/{self.project.slug}/settings/you/")
        key = other.session.session_key
        return str(SignIn.objects.get(session_key=key).code)

    def address(self, page: str, *, slug: str | None = None) -> str:
        """The page with everything filled in that it asks for."""

        def fill(found: re.Match[str]) -> str:
            name: str = found[1]
            if name == "slug":
                return slug or self.project.slug
            if name == "code":
                before = page[: found.start()].removeprefix(OF_A_PROJECT)
                return self.codes[before]
            return self.others[name]

        return "/" + re.sub(r"<\w+:(\w+)>", fill, page)

    @cache  # noqa: B019 (one a module)
    def methods(self, page: str) -> list[str]:
        """What the page says that it takes; no page takes whatever comes."""
        answer = self.manager.put(self.address(page))
        assert answer.status_code == 405, f"{page} takes PUT"
        allowed = {each.strip() for each in answer["Allow"].split(",")}
        return sorted(allowed & {"GET", "POST"})

    def each_method(self, pages: list[str]) -> Iterator[tuple[str, str]]:
        for page in pages:
            for method in self.methods(page):
                yield method, page


@pytest.fixture(scope="module")
def pages(live: Live) -> Iterator[Pages]:
    made = Pages(live)
    yield made
    made.world.agent.close()


def ask(
    client: Client, method: str, address: str, *, part: bool = False
) -> HttpResponse:
    headers = FRAGMENT if part else {}
    return cast(HttpResponse, client.generic(method, address, headers=headers))


def test_every_page_belongs_to_a_project_or_says_that_it_does_not() -> None:
    apart = {each for each in list_pages() if each not in PROJECT_PAGES}
    assert apart == OWN | OPEN
    assert len(PROJECT_PAGES) > 30


def test_who_is_not_signed_in_is_led_to_the_sign_in(pages: Pages) -> None:
    entries = Entry.objects.count()
    for method, page in pages.each_method(GUARDED):
        address = pages.address(page)
        answer = ask(pages.stranger, method, address)
        assert answer.status_code == 302, (method, page)
        assert answer["Location"].startswith("/sign-in/?next="), (method, page)
        assert address not in answer.content.decode()
    assert Entry.objects.count() == entries


def test_a_part_of_a_page_leads_the_whole_page_to_the_sign_in(pages: Pages) -> None:
    for method, page in pages.each_method(PROJECT_PAGES):
        answer = ask(pages.stranger, method, pages.address(page), part=True)
        assert answer.status_code == 401, (method, page)
        assert answer["HX-Redirect"].startswith("/sign-in/?next="), (method, page)


def test_to_an_outsider_a_project_does_not_exist(pages: Pages) -> None:
    entries = Entry.objects.count()
    for method, page in pages.each_method(PROJECT_PAGES):
        answer = ask(pages.outsider, method, pages.address(page))
        nowhere = ask(pages.outsider, method, pages.address(page, slug="nowhere"))
        assert answer.status_code == nowhere.status_code == 404, (method, page)
        assert answer.content == nowhere.content, (method, page)
    assert Entry.objects.count() == entries


def test_what_belongs_elsewhere_is_not_found_in_ones_own_project(pages: Pages) -> None:
    """Whoever may use a page of their own must not reach into another with it."""
    own = pages.world.elsewhere.slug
    entries = Entry.objects.count()
    named = [each for each in PROJECT_PAGES if "<uuid:" in each]
    assert len(named) > 15
    for method, page in pages.each_method(named):
        address = pages.address(page, slug=own)
        answer = ask(pages.outsider, method, address)
        nowhere = ask(pages.outsider, method, re.sub(CODE, ABSENT, address))
        assert answer.status_code == nowhere.status_code, (method, page)
        assert answer.status_code in {204, 404}, (method, page)
        assert answer.content == nowhere.content, (method, page)
    assert Entry.objects.count() == entries


# What they send there changes nothing but their own view of it, or has the ledger checked,
# which reads everything and changes nothing.
READERS_POST = {
    *("queue/<uuid:code>/page/", "ledger/verify/"),
    *("settings/keyboard/switch/", "introduction/end/"),
}
# What is their own they may change; here it is another's, or nothing was entered.
OWN_POST = {
    *("settings/you/tokens/", "settings/you/tokens/<uuid:code>/"),
    *("settings/you/sign-out/", "settings/you/sign-ins/<uuid:code>/"),
    *("settings/keyboard/change/", "settings/notifications/change/"),
    *("runs/views/", "runs/views/<uuid:code>/remove/"),
    *("queue/views/", "queue/views/<uuid:code>/remove/"),
}
# Pages that only lead to a change: not there for those who may not make it.
FOR_CHANGES = {"new-policy/", "policies/<str:name>/edit/"}


def test_an_auditor_sees_every_page_and_changes_nothing(pages: Pages) -> None:
    entries = Entry.objects.count()
    for method, page in pages.each_method(PROJECT_PAGES):
        name = page.removeprefix(OF_A_PROJECT)
        answer = ask(pages.auditor, method, pages.address(page))
        if name in OWN_POST:
            assert answer.status_code in {302, 404, 422}, (method, page)
        elif method == "POST" and name not in READERS_POST:
            assert answer.status_code == 403, (method, page)
        elif name in FOR_CHANGES:
            assert answer.status_code == 404, (method, page)
        else:
            assert answer.status_code in {200, 204, 302, 428}, (method, page)
    assert Entry.objects.count() == entries


def test_who_has_a_given_password_is_led_to_choose_one(pages: Pages) -> None:
    newcomer = pages.world.manager.user
    rows = User.objects.filter(pk=newcomer.pk)
    methods = list(pages.each_method(PROJECT_PAGES))
    rows.update(must_change_password=True)
    try:
        for method, page in methods:
            answer = ask(pages.manager, method, pages.address(page))
            assert answer.status_code == 302, (method, page)
            assert answer["Location"] == "/password/", (method, page)
    finally:
        rows.update(must_change_password=False)


def test_nothing_is_done_without_the_token_of_the_page(pages: Pages) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(pages.world.manager.user)
    entries = Entry.objects.count()
    posts = [page for method, page in pages.each_method(GUARDED) if method == "POST"]
    posts += ["sign-in/", "sign-out/"]
    assert len(posts) > 15
    for page in posts:
        assert ask(strict, "POST", pages.address(page)).status_code == 403, page
        # Nor with a token that is not the one of the cookie.
        strict.cookies[settings.CSRF_COOKIE_NAME] = "a" * 32
        wrong = {"X-CSRFToken": "b" * 32, **FRAGMENT}
        answer = strict.post(pages.address(page), headers=wrong)
        assert answer.status_code == 403, page
        del strict.cookies[settings.CSRF_COOKIE_NAME]
    assert Entry.objects.count() == entries
    assert strict.get("/").status_code == 302, "It was signed out."


def test_the_address_of_every_form_can_be_opened_again(pages: Pages) -> None:
    """The answer to a form leaves its address in the browser: it is reloaded, restored and
    shared. It shows a page then, and changes nothing."""
    forms = [page for page in PROJECT_PAGES if "POST" in pages.methods(page)]
    assert len(forms) > 80
    entries, led = Entry.objects.count(), {}
    for page in [*forms, "sign-out/", "sign-in/", "password/"]:
        address = pages.address(page)
        answer = ask(pages.admin, "GET", address)
        for _ in range(4):
            if answer.status_code == 302:
                led[page] = answer["Location"]
                answer = ask(pages.admin, "GET", answer["Location"])
        assert answer.status_code in {200, 204}, page
        part = ask(pages.admin, "GET", address, part=True)
        assert part.status_code in {200, 204, 302, 405}, page
    of_project = f"/p/{pages.project.slug}/"
    for page, shown in {
        "settings/people/invite/": "settings/people/",
        "settings/agents/<uuid:code>/keys/": "settings/agents/",
        "settings/you/tokens/": "settings/you/",
    }.items():
        assert led[OF_A_PROJECT + page] == of_project + shown, page
    assert Entry.objects.count() == entries
    assert "_auth_user_id" in pages.admin.session, "nobody was signed out"


def test_a_member_finds_something_at_every_page(live: Live) -> None:
    """So that 404 above means the outsider, not something that is not there."""
    pages = Pages(live)
    for page in PROJECT_PAGES:
        if "GET" in pages.methods(page):
            answer = ask(pages.admin, "GET", pages.address(page))
            leads_on = {302} if page.endswith("/settings/") else set()
            assert answer.status_code in {200, 204, *leads_on}, page
    for page in PROJECT_PAGES:
        if "POST" in pages.methods(page):
            answer = ask(pages.admin, "POST", pages.address(page))
            assert answer.status_code not in {401, 403, 404, 405, 500}, page
            led_to = answer.headers.get("Location", "")
            assert not led_to.startswith(("/sign-in/", "/password/")), page
    pages.world.agent.close()
