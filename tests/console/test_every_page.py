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
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import Client
from django.urls import get_resolver, path

from accounts.models import Agent, Role, SignIn, User
from config.access import enforce
from config.access.enforce import guard_pages
from config.access.pages import PAGES
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
OWN = {"", "password/", "address/<str:token>/"}
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
    patterns = enforce.list_pages(get_resolver().url_patterns)
    found = {each for each, _ in patterns if not each.startswith("api/v1/")}
    return sorted(found | {"api/v1/docs"})


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
        self.roles = {
            role: open_browser(
                make_person(str(role), role=role, project=self.project).user
            )
            for role in Role
        }
        self.stranger = Client()
        leaver = make_person("leaver", role=Role.REVIEWER, project=self.project)
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
            "settings/people/": str(leaver.user.code),
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
            "token": "unsigned",
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
        answer = self.admin.put(self.address(page))
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
    assert {each.removeprefix(OF_A_PROJECT) for each in PROJECT_PAGES} == set(PAGES)


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


def is_about_oneself(name: str, method: str) -> bool:
    """What is sent there is their own: here it is another's, or nothing was entered."""
    return method == "POST" and PAGES[name].own


def test_every_role_reads_and_changes_what_the_table_says(pages: Pages) -> None:
    """Those who may not change anything; what the others may is tried below."""
    entries = Entry.objects.count()
    told, wanted = {}, {}
    for method, page in pages.each_method(PROJECT_PAGES):
        name = page.removeprefix(OF_A_PROJECT)
        access = PAGES[name]
        for role, browser in pages.roles.items():
            reads = method == "GET"
            may = access.may_read(role) if reads else access.may_change(role)
            if may and not reads and role is not Role.AUDITOR:
                continue
            cell = (method, name, str(role))
            told[cell] = ask(browser, method, pages.address(page)).status_code
            wanted[cell] = told[cell] if may else 403
            if may:
                assert told[cell] not in {401, 403, 405, 500}, cell
                assert told[cell] != 404 or is_about_oneself(name, method), cell
            elif not access.may_read(role) and (reads or role is not Role.AUDITOR):
                wanted[cell] = 404
    assert told == wanted
    assert Entry.objects.count() == entries


def test_each_role_that_may_change_something_gets_in(live: Live) -> None:
    pages = Pages(live)
    for page in PROJECT_PAGES:
        access = PAGES[page.removeprefix(OF_A_PROJECT)]
        if "POST" not in pages.methods(page):
            continue
        for role in (Role.REVIEWER, Role.MANAGER):
            if access.may_change(role):
                answer = ask(pages.roles[role], "POST", pages.address(page))
                assert answer.status_code not in {401, 403, 405, 500}, (role, page)
    pages.world.agent.close()


def test_a_page_that_is_in_no_table_does_not_start() -> None:
    pattern = path("p/<slug:slug>/leak/", lambda request: HttpResponse())
    with pytest.raises(ImproperlyConfigured, match="/leak/"):
        guard_pages([pattern])


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
            leads_on = {302} if page.endswith(("/settings/", "/halt/")) else set()
            assert answer.status_code in {200, 204, *leads_on}, page
    # Who was removed can no longer be given a role.
    for page in sorted(PROJECT_PAGES, key=lambda each: each.endswith("/remove/")):
        if "POST" in pages.methods(page):
            answer = ask(pages.admin, "POST", pages.address(page))
            assert answer.status_code not in {401, 403, 404, 405, 500}, page
            led_to = answer.headers.get("Location", "")
            assert not led_to.startswith(("/sign-in/", "/password/")), page
    pages.world.agent.close()
