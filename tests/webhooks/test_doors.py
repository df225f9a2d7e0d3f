"""The doors of webhooks: what they take and tell, and whose project they mean."""

from __future__ import annotations

import httpx

from accounts.models import Membership, Project, Role
from tests.support.builders import Person, make_project
from tests.support.problems import any_problem, problem
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import Receiver, answer
from webhooks.delivery.worker import deliver
from webhooks.services import ENDPOINTS_LIMIT

PUBLIC = "https://hooks.example/in"


def test_one_is_added_read_and_deleted(
    project: Project, alice: Person, manager: httpx.Client
) -> None:
    body = {
        "url": PUBLIC,
        "types": ["run.stopped", "review.opened"],
        "description": "The pager",
    }
    made = manager.post("/webhooks", json=body)
    assert made.status_code == 201
    told = made.json()
    assert told.pop("secret").startswith("whsec_")
    assert told["project"] == project.slug
    assert told["types"] == ["review.opened", "run.stopped"]
    assert told["created_by"] == alice.user.username
    assert (told["status"], told["failing_since"]) == ("active", None)
    assert manager.get(f"/webhooks/{told['id']}").json() == told
    assert manager.get("/webhooks").json() == {"items": [told], "next_cursor": None}
    gone = manager.delete(f"/webhooks/{told['id']}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert "content-type" not in gone.headers
    assert manager.delete(f"/webhooks/{told['id']}").status_code == 404
    assert manager.get("/webhooks").json()["items"] == []


def test_what_is_not_a_webhook_is_refused(manager: httpx.Client) -> None:
    types = ["run.stopped"]
    for body in (
        {},
        {"url": PUBLIC},
        {"types": types},
        {"url": PUBLIC, "types": []},
        {"url": PUBLIC, "types": ["run.started"]},
        {"url": PUBLIC, "types": ["webhook.test"]},
        {"url": PUBLIC, "types": "run.stopped"},
        {"url": PUBLIC, "types": types * 10},
        {"url": PUBLIC, "types": types, "secret": "mine"},
        {"url": PUBLIC, "types": types, "description": "x" * 201},
        {"url": "", "types": types},
        {"url": f"https://hooks.example/{'x' * 2_000}", "types": types},
    ):
        problem(manager.post("/webhooks", json=body), "invalid")
    unknown = manager.get("/webhooks?project=x")
    problem(unknown, "invalid")


def test_whoever_manages_several_projects_says_which(
    project: Project, bob: Person, alice: Person, manager: httpx.Client
) -> None:
    other, reviewed = make_project(), make_project()
    for place, role in ((other, Role.ADMIN), (reviewed, Role.REVIEWER)):
        Membership.objects.create(project=place, user=alice.user, role=role)
    body = {"url": PUBLIC, "types": ["run.stopped"]}
    told = problem(manager.post("/webhooks", json=body), "invalid")
    assert project.slug in told["errors"][0]["message"]
    assert reviewed.slug not in told["errors"][0]["message"]
    for slug in (project.slug, other.slug):
        made = manager.post("/webhooks", json={**body, "project": slug})
        assert made.json()["project"] == slug
    items = manager.get("/webhooks").json()["items"]
    assert [item["project"] for item in items] == [other.slug, project.slug]
    here = {**body, "project": reviewed.slug}
    assert manager.post("/webhooks", json=here).status_code == 403
    nowhere = {**body, "project": make_project().slug}
    assert manager.post("/webhooks", json=nowhere).status_code == 404


def test_a_test_tells_how_it_went(
    project: Project, alice: Person, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"), ["run.stopped"])
    sent = manager.post(f"/webhooks/{hook.code}/test")
    assert sent.status_code == 202
    assert (sent.json()["state"], sent.json()["attempts"]) == ("queued", [])
    deliver()
    (told,) = manager.get(f"/webhooks/{hook.code}/deliveries").json()["items"]
    assert (told["id"], told["state"]) == (sent.json()["id"], "delivered")
    (attempt,) = told["attempts"]
    assert (attempt["status"], attempt["ok"]) == (200, True)
    body = receiver.arrived[0].verified(hook.secret)
    assert body["type"] == "webhook.test"
    assert body["data"] == {"webhook": hook.code, "by": alice.user.username}


def test_deliveries_are_filtered_and_paged(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project, 5)
    deliver()
    receiver.behaviours["/in"] = answer(410)
    tell(project, 1)
    deliver()
    path = f"/webhooks/{hook.code}/deliveries"
    first = manager.get(f"{path}?limit=2&state=delivered").json()
    second = manager.get(
        f"{path}?limit=9&state=delivered&cursor={first['next_cursor']}"
    ).json()
    numbers = [item["sequence"] for item in (*first["items"], *second["items"])]
    assert numbers == [5, 4, 3, 2, 1]
    (dead,) = manager.get(f"{path}?state=dead").json()["items"]
    assert (dead["sequence"], dead["next_attempt_at"]) == (6, None)
    for query in ("state=lost", "cursor=x", "limit=0", "page=2"):
        problem(manager.get(f"{path}?{query}"), "invalid")


def test_what_is_on_its_way_or_disabled_is_not_sent_again_by_hand(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    (waiting,) = hook.deliveries
    problem(manager.post(f"/webhooks/deliveries/{waiting.code}/resend"), "invalid")
    off = manager.post(f"/webhooks/{hook.code}/disable").json()
    assert off["status"] == "disabled"
    assert off["status_reason"].startswith("Disabled by alice")
    assert hook.states == ["cancelled"]
    for path in ("deliveries/" + str(waiting.code) + "/resend", hook.code + "/test"):
        told = problem(manager.post(f"/webhooks/{path}"), "invalid")
        assert "enable it first" in told["detail"]


def test_a_project_has_only_so_many(manager: httpx.Client, alice: Person) -> None:
    for _ in range(ENDPOINTS_LIMIT):
        add(manager, "https://93.184.216.34/in")
    body = {"url": PUBLIC, "types": ["run.stopped"]}
    any_problem(manager.post("/webhooks", json=body))
