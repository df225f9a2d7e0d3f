"""A block can be answered: a manager says that a value is no secret, and takes it back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Entry
from reviews.models import Exemption, ToolCall
from reviews.permissions.exemptions import (
    get_judged_payload,
    list_blocking_secrets,
)
from tests.conftest import client_for
from tests.gateway.calls.calls import claim, command, gates, judge, rule
from tests.guidance.core.secrets.samples import body
from tests.support.builders import Person, make_project, make_robot, start_run
from tests.support.live import Live
from tests.support.problems import fields, problem

KEY = body(24)
OTHER = body(24, seed=9)
LINE = f"API_KEY={KEY} ./build.sh"


def find_fingerprint(call: dict[str, Any]) -> str:
    """Of the only secret that blocks the call."""
    stored = ToolCall.objects.get(code=call["id"])
    (fingerprint,) = list_blocking_secrets(get_judged_payload(stored))
    return fingerprint


def exempt(
    person: httpx.Client, call: dict[str, Any], **more: object
) -> httpx.Response:
    body = {
        "call": call["id"],
        "fingerprint": find_fingerprint(call),
        "reason": "the demo server prints it on its first page",
    }
    return person.post("/exemptions", json=body | more)


def test_what_a_manager_exempts_passes_with_a_note_and_stays_hidden(
    agent: httpx.Client, manager: httpx.Client, alice: Person, project: Project
) -> None:
    run = start_run(agent)
    blocked = command(agent, run, LINE)
    assert blocked["decision"] == "block"

    done = exempt(manager, blocked)

    assert done.status_code == 201, done.text
    again = command(agent, start_run(agent), f"cd shop && {LINE}")
    assert (again["decision"], gates(again)) == ("allow", ["secrets"])
    (note,) = again["findings"]
    assert note["decision"] == "allow"
    assert note["details"]["exemption"] == done.json()["id"]
    assert note["message"].endswith(f"is not a secret, says {alice.user.username}")
    assert again["digest"].startswith("hmac-sha256:")
    assert claim(agent, again["run"], again).status_code == 200
    entries = Entry.objects.filter(project=project)
    kept = "".join(entries.values_list("payload", flat=True))
    assert KEY[:8] not in kept + done.text + str(again)
    assert judge(agent, "command", command=LINE)["decision"] == "allow"


def test_another_value_or_another_project_is_blocked_as_before(
    live: Live, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    exempt(manager, command(agent, run, LINE))
    assert command(agent, run, LINE.replace(KEY, OTHER))["decision"] == "block"
    both = command(agent, run, f"{LINE} --token {OTHER}")
    assert both["decision"] == "block"
    assert sorted(f["decision"] for f in both["findings"]) == ["allow", "block"]
    with client_for(live, make_robot(project=make_project())) as stranger:
        assert command(stranger, start_run(stranger), LINE)["decision"] == "block"


def test_what_else_is_found_counts_as_before(
    agent: httpx.Client, manager: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    exempt(manager, command(agent, run, LINE))
    asked = command(agent, run, f"{LINE} && rm -rf src")
    assert asked["decision"] == "require-confirmation"
    review = reviewer.get(f"/reviews/{asked['review']['id']}").json()
    assert KEY[:8] not in str(review)
    assert review["content"]["permittable"] is False
    refused = rule(reviewer, asked, "amend", amended={"command": "ls"})
    assert refused.status_code == 422
    assert rule(reviewer, asked, "approve").status_code == 200


def test_taking_it_back_blocks_again_and_twice_is_once(
    agent: httpx.Client, manager: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    made = exempt(manager, command(agent, run, LINE)).json()
    assert (made["state"], made["revoked_by"]) == ("standing", None)
    for _ in range(2):
        back = reviewer.post(f"/exemptions/{made['id']}/revoke")
        assert (back.status_code, back.json()["state"]) == (200, "revoked")
    blocked = command(agent, run, LINE)
    assert blocked["decision"] == "block"
    types = Entry.objects.filter(run__code=run).values_list("type", flat=True)
    assert [name for name in types.order_by("seq") if "exempt" in name] == [
        "exemption.made",
        "exemption.revoked",
    ]
    assert exempt(manager, blocked).status_code == 201
    assert command(agent, run, LINE)["decision"] == "allow"
    states = [item["state"] for item in reviewer.get("/exemptions").json()["items"]]
    assert states == ["standing", "revoked"]
    for state, count in (("standing", 1), ("ended", 1)):
        page = reviewer.get("/exemptions", params={"state": state}).json()
        assert len(page["items"]) == count


def test_a_reviewer_may_not_and_an_agent_even_less(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    blocked = command(agent, start_run(agent), LINE)
    problem(exempt(reviewer, blocked), "forbidden")
    problem(exempt(agent, blocked), "forbidden")
    assert not Exemption.objects.filter(call_id=blocked["id"]).exists()


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"reason": "  "}, "reason"),
        ({"reason": ""}, "reason"),
        ({"fingerprint": "0000000g"}, "fingerprint"),
        ({"fingerprint": "00000000"}, "fingerprint"),
    ],
)
def test_a_reason_and_a_fingerprint_of_the_call_are_needed(
    agent: httpx.Client, manager: httpx.Client, more: dict[str, str], field: str
) -> None:
    refused = exempt(manager, command(agent, start_run(agent), LINE), **more)
    assert fields(problem(refused, "invalid")) == [field]


def test_it_is_marked_once_and_only_where_something_was_blocked(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    blocked = command(agent, run, LINE)
    exempt(manager, blocked)
    problem(exempt(manager, blocked), "unchanged")
    passed = command(agent, run, LINE)
    mark = {"call": passed["id"], "fingerprint": find_fingerprint(blocked)}
    refused = manager.post("/exemptions", json={**mark, "reason": "why not"})
    problem(refused, "invalid")
    mark["call"] = start_run(agent)
    unknown = manager.post("/exemptions", json={**mark, "reason": "why not"})
    problem(unknown, "not-found")


def test_a_closed_run_can_still_be_answered(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    blocked = command(agent, run, LINE)
    manager.post(f"/runs/{run}/abort", json={"reason": "enough"})
    assert exempt(manager, blocked).status_code == 201


def test_a_person_may_not_write_a_secret_into_a_call_even_to_search_for_it(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    """What a person writes is stored as it stands."""
    token = "gh" + "p_" + body(36)
    asked = command(agent, start_run(agent), "rm -rf src")
    refused = rule(
        reviewer, asked, "amend", amended={"command": f"grep -rn {token} src"}
    )
    problem(refused, "invalid")
    entries = Entry.objects.filter(project=project)
    kept = "".join(entries.values_list("payload", flat=True))
    assert token[4:12] not in kept + refused.text
