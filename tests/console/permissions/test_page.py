"""The page of standing permissions: what it says, who may take back, its price."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.live.updates import View, build_updates
from console.permissions import rows as permission_rows
from console.permissions.preview import Coverage, describe_coverage
from console.runs.rows import get_live_position
from guidance.core.tools.calls import Call, CommandCall, ToolCall
from guidance.core.tools.permission_shapes import build_exact_text, build_shape_text
from reviews.models import Permission
from tests.gateway.calls.calls import command, rule
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def build_path(project: Project) -> str:
    return f"/p/{project.slug}/permissions/"


def remember(
    agent: httpx.Client, reviewer: httpx.Client, text: str = "rm -rf build", **more: Any
) -> Permission:
    """Asked about in a run of its own, approved, remembered."""
    call = command(agent, start_run(agent), text)
    done = rule(
        reviewer, call, "approve", remember={"scope": "exact", "hours": 2, **more}
    )
    assert done.status_code == 200, done.text
    return Permission.objects.select_related("run", "review").latest("pk")


def rows(page: str) -> list[str]:
    """The rows in their order, as a reader has them."""
    found = page.split('<li class="permission')[1:]
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", row)).split()) for row in found]


def read(client: Client, project: Project) -> str:
    page = client.get(build_path(project))
    assert page.status_code == 200
    return page.content.decode()


def test_without_any_it_says_how_one_comes_to_be(
    project: Project, alice: Person
) -> None:
    page = read(open_browser(alice.user), project)
    assert "No standing permissions" in page
    assert "Whoever approves one may choose not to be asked again" in page


def test_a_row_says_what_whose_until_when_and_how_often(
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    permission = remember(agent, reviewer, "rm -rf build-101", scope="shape", uses=3)
    command(agent, start_run(agent), "rm -rf build-102")
    page = read(open_browser(alice.user), project)
    (row,) = rows(page)
    assert "calls of this shape" in row
    assert "rm -rf build- [marked: may change] # [end of mark]" in row
    assert "delete-folder" in row
    assert f"Granted by {bob.user.username} just now in this review" in row
    assert re.search(r"Ends in 1 h 59 m", row)
    assert "Used 1 of 3" in row
    assert "Last used just now" in row
    assert f"/p/{project.slug}/queue/{permission.review.code}/" in page
    assert f"/p/{project.slug}/runs/{permission.run.code}/" in page
    assert 'aria-current="page" title="Permissions"' in page


def test_what_ended_stands_below_and_says_how(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    used = remember(agent, reviewer, "rm -rf one", uses=1)
    expired = remember(agent, reviewer, "rm -rf two")
    revoked = remember(agent, reviewer, "rm -rf three")
    standing = remember(agent, reviewer, "rm -rf four")
    command(agent, start_run(agent), "rm -rf one")
    Permission.objects.filter(pk=expired.pk).update(
        expires_at=timezone.now() - timedelta(hours=3)
    )
    manager.post(f"/permissions/{revoked.code}/revoke")
    page = read(open_browser(alice.user), project)
    first, *ended = rows(page)
    assert "rm -rf four" in first
    assert "Revoke this permission?" in first
    assert ["three" in ended[0], "two" in ended[1], "one" in ended[2]] == [True] * 3
    assert f"Revoked just now By {alice.user.username[:2].upper()}" in ended[0]
    assert "Expired 3 h ago" in ended[1]
    assert "Used up just now" in ended[2]
    assert page.count('data-dialog="revoke-') == 1
    assert f"permissions/{standing.code}/revoke/" in page
    assert f"permissions/{used.code}/revoke/" not in page


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_a_member_takes_it_back_by_a_plain_form(
    who: str,
    request: pytest.FixtureRequest,
    project: Project,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    person: Person = request.getfixturevalue(who)
    permission = remember(agent, reviewer)
    client = open_browser(person.user)
    for _ in range(2):  # twice is once
        done = client.post(f"{build_path(project)}{permission.code}/revoke/")
        assert done.status_code == 302
        assert done["Location"] == f"{build_path(project)}#permission-{permission.code}"
    permission.refresh_from_db()
    assert permission.revoked_by_id == person.user.pk
    assert command(agent, start_run(agent))["decision"] == "require-confirmation"


def test_outsiders_find_nothing_and_take_nothing_back(
    project: Project,
    charlie: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    permission = remember(agent, reviewer)
    client = open_browser(charlie.user)
    assert client.get(build_path(project)).status_code == 404
    others = charlie.user.membership_set.get().project
    for where in (project, others):
        address = f"{build_path(where)}{permission.code}/revoke/"
        assert client.post(address).status_code == 404
    read = client.get(f"{build_path(others)}{permission.code}/revoke/")
    assert read["Location"] == build_path(others)
    permission.refresh_from_db()
    assert permission.revoked_at is None


def test_a_form_from_elsewhere_is_refused(
    project: Project, bob: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    permission = remember(agent, reviewer)
    client = Client(enforce_csrf_checks=True)
    client.force_login(bob.user)
    done = client.post(f"{build_path(project)}{permission.code}/revoke/")
    assert done.status_code == 403


def test_long_lists_end_in_words(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(permission_rows, "STANDING_LIMIT", 2)
    for number in range(3):
        remember(agent, reviewer, f"rm -rf build-{number}")
    page = read(open_browser(alice.user), project)
    assert len(rows(page)) == 2
    assert "2+ standing" in page
    assert "?state=standing" in page


def test_its_price_does_not_grow_with_it(
    project: Project, alice: Person, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    client = open_browser(alice.user)
    prices = []
    for count in (1, 4):
        for number in range(count):
            remember(agent, reviewer, f"rm -rf build-{count}-{number}")
            gone = remember(agent, reviewer, f"rm -rf out-{count}-{number}")
            reviewer.post(f"/permissions/{gone.code}/revoke")
        with CaptureQueriesContext(connection) as queries:
            read(client, project)
        prices.append(len(queries))
    assert prices[0] == prices[1] <= 12


def test_an_open_page_hears_of_grants_uses_and_ends(
    project: Project, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    view = View(project_id=project.pk, name="permissions")

    def told(since: int) -> bool:
        (update,) = build_updates([(view, since)]).values()
        return 'data-touched="*"' in update.text

    def here() -> int:
        return get_live_position(project_id=project.pk)

    before = here()
    permission = remember(agent, reviewer)
    assert told(before)
    run = start_run(agent)
    before = here()
    command(agent, run, "ls")
    assert not told(before)
    before = here()
    command(agent, run)
    assert told(before)
    before = here()
    command(agent, run)
    command(agent, run, "ls")  # a call after it hides no use
    assert told(before)
    before = here()
    reviewer.post(f"/permissions/{permission.code}/revoke")
    assert told(before)


def texts(covered: Coverage) -> dict[str, str]:
    return {
        part.name: "".join(
            f"<{segment.shown}>" if group.marks else segment.shown
            for line in part.shown.lines
            for group in line.groups
            for segment in group.segments
        )
        for part in covered.parts
    }


BASH = CommandCall(
    tool="Bash",
    command='rm -rf build-12 # "x"',
    arguments={"command": 'rm -rf build-12 # "x"', "cwd": "/srv"},
)
QUERY = ToolCall(
    tool="mcp__db__query",
    arguments={"sql": "DELETE FROM s_7", "rows": 1234567, "to": {"a": [1]}},
)


@pytest.mark.parametrize(
    ("call", "exact", "shape"),
    [
        (
            BASH,
            {"": 'rm -rf build-12 # "x"', "cwd": "/srv"},
            {"": 'rm -rf build-<#> # "x"', "cwd": "/srv"},
        ),
        (
            QUERY,
            {
                "sql": "DELETE FROM s_7",
                "rows": "1234567",
                "to": '{\n  "a": [\n    1\n  ]\n}',
            },
            {
                "sql": "DELETE FROM s_<#>",
                "rows": "1234567",
                "to": '{\n  "a": [\n    1\n  ]\n}',
            },
        ),
        (ToolCall(tool="reset"), {}, {}),
    ],
    ids=["command", "arguments", "nothing"],
)
def test_what_it_covers_is_read_back(
    call: Call, exact: dict[str, str], shape: dict[str, str]
) -> None:
    assert texts(describe_coverage(build_exact_text(call))) == exact
    assert texts(describe_coverage(build_shape_text(call) or "")) == shape


def test_long_texts_and_many_arguments_are_cut_in_words() -> None:
    call = ToolCall(tool="t", arguments={f"a{n:02}": "x" * 3_000 for n in range(25)})
    covered = describe_coverage(build_exact_text(call))
    assert len(covered.parts) == 20
    assert covered.more == 5
    assert covered.parts[0].left == 1_000
    long = build_exact_text(CommandCall(tool="Bash", command="ls\n" * 30))
    assert describe_coverage(long).parts[0].left == 30
