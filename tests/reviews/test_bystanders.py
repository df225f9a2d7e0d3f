"""What is done to one run, review or permission leaves every other as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db.models import Model
from django.utils import timezone

from accounts.models import Project
from ledger.models import Checkpoint, Run
from ledger.writer import get_writer
from reviews.models import (
    AdvisoryWarning,
    AgentWait,
    Comment,
    Exemption,
    GateCheck,
    Grant,
    Permission,
    Reading,
    Review,
    Ruling,
    ToolCall,
)
from reviews.permissions.exemptions import RevokeExemption, get_visible_exemption
from reviews.permissions.standing import RevokePermission, get_visible_permission
from reviews.queue.agent_waits import store_waits
from reviews.rulings.expiry import abandon_silent_runs, expire_due_reviews
from reviews.rulings.reading_proof import store_served_page
from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command, rule, settle
from tests.gateway.checks.saying import exhaust, judge, open_check
from tests.reviews.permissions.test_exemptions import exempt
from tests.reviews.rulings.test_expiry import move_due_date
from tests.support.builders import Person, make_policy, start_run, step
from tests.support.live import Live
from tests.support.people import rule as rule_on

GATES = {
    "tests-pass": {"name": "Tests", "severity": "critical", "criteria": ["They pass"]},
    "style": {"name": "Style", "severity": "high", "criteria": ["It is quiet"]},
}
# Each table, by the way that leads from its rows to their run.
TABLES: dict[type[Model], str] = {
    Run: "pk",
    Checkpoint: "run",
    Review: "run",
    Ruling: "review__run",
    Comment: "review__run",
    Reading: "review__run",
    AgentWait: "review__run",
    ToolCall: "run",
    Grant: "run",
    Permission: "run",
    Exemption: "run",
    GateCheck: "run",
    AdvisoryWarning: "run",
}


@dataclass(slots=True, kw_only=True)
class Scene:
    """A run with a row in every table, and the ids of what may be acted on."""

    agent: httpx.Client
    run: str
    waiting: dict[str, Any]
    granted: dict[str, Any]
    permission: str
    exemption: str
    warning: str


@dataclass(slots=True, kw_only=True)
class People:
    reviewer: httpx.Client
    manager: httpx.Client
    bob: Person


def build_scene(agent: httpx.Client, people: People, name: str) -> Scene:
    """`name` stands in every command: no permission of one scene covers the other's."""
    run = start_run(agent, policy="p")
    agent.post(f"/runs/{run}/steps", json=step(1))
    agent.post(f"/runs/{run}/checkpoints", json={"step": 1})
    kept = command(agent, run, f"rm -rf {name}")
    rule(people.reviewer, kept, "approve", remember={"scope": "exact"})
    blocked = command(agent, run, f"DB_PASSWORD=Zx81{name} ./build.sh")
    exemption = exempt(people.manager, blocked).json()["id"]
    warned = open_check(agent, run, "style")
    while judge(agent, run, warned)["outcome"] == "retry":
        pass
    _, told = exhaust(agent, run, "tests-pass")
    rule_on(people.reviewer, told["review"]["id"], "retry", note="Again")
    granted = command(agent, run, "ls")
    waiting = command(agent, run, f"rm -rf {name} /a")
    command(agent, run, f"rm -rf {name} /b")
    asked_about = f"/reviews/{waiting['review']['id']}"
    people.manager.post(f"{asked_about}/claim")
    people.reviewer.post(f"{asked_about}/comments", json={"text": "Hm"})
    review = Review.objects.get(code=waiting["review"]["id"])
    store_served_page(review, user_id=people.bob.user.pk, page=1)
    store_waits({review.code: timezone.now() - timedelta(hours=1)})
    return Scene(
        agent=agent,
        run=run,
        waiting=waiting,
        granted=granted,
        permission=str(Permission.objects.get(run__code=run).code),
        exemption=exemption,
        warning=str(AdvisoryWarning.objects.get(run__code=run).code),
    )


def take_picture(run: str) -> dict[str, list[dict[str, Any]]]:
    pk = Run.objects.values_list("pk", flat=True).get(code=run)
    rows = {
        model.__name__: list(
            model._default_manager.filter(**{way: pk}).order_by("pk").values()
        )
        for model, way in TABLES.items()
    }
    assert all(rows.values()), [name for name, found in rows.items() if not found]
    return rows


@pytest.fixture
def people(live: Live, alice: Person, bob: Person) -> Iterator[People]:
    with client_for(live, alice) as manager, client_for(live, bob) as reviewer:
        yield People(reviewer=reviewer, manager=manager, bob=bob)


def rule_call(scene: Scene, people: People) -> None:
    path = f"/reviews/{scene.waiting['review']['id']}"
    for act in ("claim", "release", "claim"):
        person = people.manager if act == "release" else people.reviewer
        assert person.post(f"{path}/{act}").status_code == 200
    people.reviewer.post(f"{path}/comments", json={"text": "Me"})
    review = Review.objects.get(code=scene.waiting["review"]["id"])
    store_served_page(review, user_id=people.bob.user.pk, page=1)
    store_waits({review.code: timezone.now()})
    rule(people.reviewer, scene.waiting, "amend", amended={"command": "ls build"})


def rule_the_rest(scene: Scene, people: People) -> None:
    (left,) = Review.objects.filter(run__code=scene.run, state="open")
    rule_on(people.reviewer, str(left.code), "deny")
    asked = {"kind": "question", "title": "Which?"}
    question = scene.agent.post(f"/runs/{scene.run}/reviews", json=asked).json()["id"]
    rule_on(people.reviewer, question, "answer", answer="This one.")
    _, told = exhaust(scene.agent, scene.run, "tests-pass", "style")
    rule_on(people.reviewer, told["review"]["id"], "skip", note="A known flake.")


def use_grant(scene: Scene, _people: People) -> None:
    assert claim(scene.agent, scene.run, scene.granted).status_code == 200
    done = settle(scene.agent, scene.run, scene.granted, output="done")
    assert done.status_code == 200


def use_permission(scene: Scene, people: People) -> None:
    """All that waits is answered by now: the run goes on."""
    assert command(scene.agent, scene.run, "rm -rf own")["decision"] == "allow"
    taken = people.reviewer.post(f"/permissions/{scene.permission}/revoke")
    assert taken.json()["state"] == "revoked"
    assert command(scene.agent, scene.run, "rm -rf own")["decision"] != "allow"


def revoke_exemption(scene: Scene, people: People) -> None:
    gone = people.reviewer.post(f"/exemptions/{scene.exemption}/revoke")
    assert gone.status_code == 200


def acknowledge(scene: Scene, people: People) -> None:
    path = f"/runs/{scene.run}/warnings/{scene.warning}/acknowledge"
    assert people.reviewer.post(path).status_code == 200


def expire(scene: Scene, _people: People) -> None:
    """The last call waits: its time is over, and the run ends with it."""
    open_ones = Review.objects.filter(run__code=scene.run, state="open")
    for code in open_ones.values_list("code", flat=True):
        move_due_date(str(code), timedelta(seconds=-1))
    assert expire_due_reviews() >= 1
    abandon_silent_runs()
    assert scene.agent.get(f"/runs/{scene.run}").json()["status"] == "aborted"


ACTS: list[Callable[[Scene, People], None]] = [
    *(acknowledge, use_grant, rule_call, rule_the_rest, use_permission),
    *(revoke_exemption, expire),
]


def test_whatever_is_done_to_one_run_another_stays_as_it_was(
    agent: httpx.Client, people: People, project: Project
) -> None:
    make_policy("p", project=project, gates=GATES)
    other = build_scene(agent, people, "other")
    own = build_scene(agent, people, "own")
    before = take_picture(other.run)

    for act in ACTS:
        seen = take_picture(own.run)
        act(own, people)
        assert take_picture(own.run) != seen, act.__name__
        assert take_picture(other.run) == before, act.__name__

    third = build_scene(agent, people, "third")
    people.reviewer.post(f"/runs/{third.run}/abort", json={})
    assert not Review.objects.filter(run__code=third.run, state="open").exists()
    assert take_picture(other.run) == before


def test_who_takes_back_what_is_taken_back_already_is_not_its_taker(
    agent: httpx.Client, people: People, project: Project, alice: Person, bob: Person
) -> None:
    """Both have read it while it stood."""
    make_policy("p", project=project, gates=GATES)
    scene = build_scene(agent, people, "own")
    permission = get_visible_permission(alice.principal, scene.permission)
    exemption = get_visible_exemption(alice.principal, scene.exemption)
    for person in (bob, alice):
        for request in (
            RevokePermission(
                run_code=scene.run, permission=permission, person=person.principal
            ),
            RevokeExemption(
                run_code=scene.run, exemption=exemption, person=person.principal
            ),
        ):
            get_writer().perform_now(request)

    for row in (permission, exemption):
        row.refresh_from_db()
        assert row.revoked_by == bob.user
