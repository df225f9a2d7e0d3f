"""Policies can be read, compared and checked before they are published."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Membership, Project, Role
from tests.conftest import client_for
from tests.support.builders import Person, make_policy, make_project, make_robot
from tests.support.live import Live
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once(
    "forms of requests; their SQL is repeated in test_writing"
)

REWORK = {"continue": {"max_rework_ratio": 0.25}}


def get(client: httpx.Client, path: str, **query: Any) -> Any:
    answer = client.get(f"/policies{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_everybody_of_the_project_reads_what_is_in_force(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("strict", project=project, **REWORK)
    newest = make_policy("strict", project=project)
    for client in (agent, reviewer):
        default, strict = get(client, "")["items"]
        assert (default["name"], default["version"]) == ("default", 1)
        assert (default["by"], default["project"]) == (None, project.slug)
        assert (strict["version"], strict["versions"]) == (2, 2)
        assert strict["hash"] == newest.hash
        assert get(client, "/strict") == strict


def test_versions_say_what_they_hold_as_json_and_as_yaml(
    reviewer: httpx.Client, project: Project
) -> None:
    make_policy("strict", project=project, **REWORK)
    make_policy("strict", project=project)
    newest, first = get(reviewer, "/strict/versions")["items"]
    assert (newest["version"], newest["active"]) == (2, True)
    assert (first["version"], first["active"]) == (1, False)
    whole = get(reviewer, "/strict/versions/1")
    assert whole.items() >= first.items()
    assert whole["document"] == REWORK
    assert whole["yaml"] == "continue:\n  max_rework_ratio: 0.25\n"


def test_a_difference_is_named_in_words(
    reviewer: httpx.Client, project: Project
) -> None:
    make_policy("strict", project=project, **REWORK)
    make_policy("strict", project=project, reviews={"expires_after_s": 14_400})
    found = get(reviewer, "/strict/diff", **{"from": 1, "to": 2})["items"]
    assert get(reviewer, "/strict/diff")["items"] == found
    assert found == [
        {
            "path": "continue.max_rework_ratio",
            "before": 0.25,
            "after": None,
            "meaning": "Steps, Rework limit: 25 % → 30 %",
        },
        {
            "path": "reviews.expires_after_s",
            "before": None,
            "after": 14_400,
            "meaning": "Reviews, Waits for a person: 1 d → 4 h",
        },
    ]


def test_other_projects_and_absent_policies_do_not_exist(
    live: Live, reviewer: httpx.Client, charlie: Person, project: Project
) -> None:
    make_policy("strict", project=project)
    other = make_project()
    with client_for(live, make_robot("stranger", project=other)) as stranger:
        assert [row["project"] for row in get(stranger, "")["items"]] == [other.slug]
        assert stranger.get("/policies/strict").status_code == 404
        assert stranger.get(f"/policies?project={project.slug}").status_code == 404
    with client_for(live, charlie) as outsider:
        assert get(outsider, "")["items"][0]["project"] != project.slug
        assert outsider.get("/policies/strict").status_code == 404
    for path in ("/absent", "/absent/versions", "/strict/versions/2"):
        assert reviewer.get(f"/policies{path}").status_code == 404, path
    gone = reviewer.get("/policies/strict/diff?from=1&to=9")
    assert gone.status_code == 404
    assert reviewer.get("/policies?name=x").status_code == 422


def test_who_is_in_several_projects_names_one(
    reviewer: httpx.Client, bob: Person, project: Project
) -> None:
    other = make_project()
    Membership.objects.create(user=bob.user, project=other, role=Role.REVIEWER)
    assert fields(problem(reviewer.get("/policies"), "invalid")) == ["project"]
    assert get(reviewer, "", project=other.slug)["items"][0]["project"] == other.slug


def validate(client: httpx.Client, **body: Any) -> Any:
    answer = client.post("/policies/validate", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_draft_is_told_everything_that_is_wrong_with_it_where_it_stands(
    manager: httpx.Client,
) -> None:
    text = (
        "budget:\n  tokens: 0\ncontinue:\n  max_rework_ratio: 2\n  rework: 1\n"
        "tools:\n  rules:\n    git-*: perhaps\n    no-such-rule: warn\n"
        "gates:\n  Tests: {}\n"
    )
    told = validate(manager, yaml=text)
    assert (told["ok"], told["changes"]) == (False, [])
    found = {
        ".".join(map(str, each["loc"])): (each["line"], each["column"])
        for each in told["errors"]
    }
    assert found == {
        "budget.tokens": (2, 3),
        "continue.max_rework_ratio": (4, 3),
        "continue.rework": (5, 3),
        "tools.rules.git-*": (8, 5),
        "tools.rules.no-such-rule": (9, 5),
        "gates.Tests": (11, 3),
    }


def test_a_text_that_is_no_yaml_is_told_where(manager: httpx.Client) -> None:
    told = validate(manager, yaml="budget:\n  tokens: [1\n")
    assert told["ok"] is False
    (error,) = told["errors"]
    assert (error["loc"], error["line"]) == ([], 3)


def test_a_sound_draft_is_told_what_it_would_change(
    manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project)
    told = validate(manager, document={"tools": {"rules": {"git-*": "warn"}}})
    assert (told["ok"], told["errors"]) == (True, [])
    assert [each["path"] for each in told["changes"]] == ["tools.rules.git-*"]
    new = validate(manager, document=REWORK, name="quite-new")
    assert [each["path"] for each in new["changes"]] == ["continue.max_rework_ratio"]


@pytest.mark.parametrize("body", [{}, {"document": {}, "yaml": ""}])
def test_either_of_the_two_forms_is_given(
    manager: httpx.Client, body: dict[str, Any]
) -> None:
    answer = manager.post("/policies/validate", json=body)
    assert answer.status_code == 422
    assert "either document or yaml" in answer.text


def test_the_schema_is_for_everybody(live: Live) -> None:
    answer = httpx.get(f"{live.api}/policies/schema.json")
    assert answer.status_code == 200
    assert answer.json()["properties"]["budget"]["title"] == "Budget"
