"""What a person does in the queue, at the door the browser uses."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from tests.support.browsing import FRAGMENT, fragment, open_browser, send
from tests.support.builders import Person, pause_at_once, pause_run, start_run
from tests.support.people import rule as rule_over_api

pytestmark = pytest.mark.once(
    "forms and pages; the rulings behind them are repeated in tests/reviews/rulings"
)


@pytest.fixture
def review(agent: httpx.Client) -> str:
    code: str = pause_run(agent, start_run(agent))["review"]["id"]
    return code


@pytest.fixture
def path(project: Project, review: str) -> str:
    return f"/p/{project.slug}/queue/{review}/"


def get_hidden_fields(client: Client, path: str) -> dict[str, str]:
    """The hidden fields of the dock: what this person has seen."""
    pane = fragment(client, path).content.decode()
    return dict(re.findall(r'type="hidden" name="([a-z_]+)" value="([^"]+)"', pane))


def send_ruling(client: Client, path: str, action: str, **more: Any) -> HttpResponse:
    return send(
        client,
        f"{path}rule/",
        action=action,
        **{**get_hidden_fields(client, path), **more},
    )


def test_an_approval_closes_the_review_and_frees_the_field(
    alice: Person, review: str, path: str
) -> None:
    answer = send_ruling(
        open_browser(alice.user), path, "approve", text="Go on\r\nthen"
    )
    assert answer.status_code == 200
    taken = json.loads(answer["HX-Trigger"])["sent"]["fields"]
    assert taken == [f"note-{review}"]
    pane = answer.content.decode()
    assert "You approved this" in pane
    assert "Go on<br>then" in pane


def test_an_abort_says_the_reason_of_its_dialog_and_not_the_note_of_the_dock(
    alice: Person, reviewer: httpx.Client, review: str, path: str
) -> None:
    said = {"text": "Looks fine", "reason": "It deletes too much"}
    answer = send_ruling(open_browser(alice.user), path, "abort", **said)
    assert answer.status_code == 200
    ruling = reviewer.get(f"/reviews/{review}").json()["ruling"]
    assert (ruling["action"], ruling["note"]) == ("abort", "It deletes too much")


def test_the_dock_works_without_a_script(alice: Person, path: str) -> None:
    client = open_browser(alice.user)
    form = {"action": "approve", "text": "Go on", **get_hidden_fields(client, path)}
    answer = client.post(f"{path}rule/", form)
    assert (answer.status_code, answer["Location"]) == (302, path)
    again = client.post(f"{path}rule/", form)
    assert again.status_code == 409
    assert "Not taken. You approved this" in again.content.decode()
    assert "<!doctype html>" in again.content.decode()


def test_the_second_ruling_is_told_who_ruled_what_when(
    alice: Person, reviewer: httpx.Client, bob: Person, review: str, path: str
) -> None:
    client = open_browser(alice.user)
    seen = get_hidden_fields(client, path)
    rule_over_api(reviewer, review, "approve")
    answer = send(client, f"{path}rule/", action="abort", reason="No", **seen)
    assert answer.status_code == 409
    pane = answer.content.decode()
    assert f"Not taken. {bob.user.username} approved this just now." in pane
    assert "HX-Trigger" not in answer


def test_a_stale_page_is_told_to_look_again(alice: Person, path: str) -> None:
    answer = send_ruling(open_browser(alice.user), path, "approve", version="7")
    assert answer.status_code == 412
    assert "changed since you read it" in answer.content.decode()
    assert 'name="version" value="1"' in answer.content.decode()


def test_what_was_on_screen_of_another_review_is_refused_with_the_text_kept(
    alice: Person, agent: httpx.Client, review: str, path: str
) -> None:
    client = open_browser(alice.user)
    other = pause_at_once(agent, start_run(agent))
    seen = get_hidden_fields(client, path.replace(review, other))
    form = {"action": "approve", "text": "Go on", **seen}
    answer = send(client, f"{path}rule/", **form)
    assert answer.status_code == 412
    assert "changed since you read it" in answer.content.decode()
    assert "HX-Trigger" not in answer  # so that the field is not emptied
    without_script = client.post(f"{path}rule/", form)
    assert without_script.status_code == 412
    assert "\nGo on</textarea>" in without_script.content.decode()
    assert "You approved" not in fragment(client, path).content.decode()


@pytest.mark.parametrize("version", ["", "x", "-1", "1.0", "9" * 40])
def test_a_version_that_is_none_is_asked_for(
    alice: Person, path: str, version: str
) -> None:
    answer = send_ruling(open_browser(alice.user), path, "approve", version=version)
    assert answer.status_code == 428


@pytest.mark.parametrize("action", ["deny", "answer", "retry", "", "drop table"])
def test_an_action_of_another_kind_is_refused(
    alice: Person, path: str, action: str
) -> None:
    answer = send_ruling(open_browser(alice.user), path, action, text="x")
    assert answer.status_code == 422
    assert "takes approve or abort" in answer.content.decode()


@pytest.mark.parametrize("text", ["x" * 20_001, "a\x00b"])
def test_a_text_that_cannot_be_kept_is_refused_beside_its_field(
    alice: Person, path: str, text: str
) -> None:
    client = open_browser(alice.user)
    for answer in (
        send_ruling(client, path, "approve", text=text),
        send(client, f"{path}comment/", text=text),
    ):
        assert answer.status_code == 422
        html = answer.content.decode()
        assert re.search(r'<p class="field-error" id="note-error"[^>]*>The text ', html)
        assert 'aria-describedby="note-error"' in html
        assert 'id="alert"' not in html
    refused = send_ruling(client, path, "abort", reason=text).content.decode()
    assert re.search(
        r'<p class="field-error" id="reason-error"[^>]*>The text ', refused
    )


def test_without_a_script_what_was_typed_comes_back_with_what_is_wrong(
    alice: Person, path: str
) -> None:
    client, text = open_browser(alice.user), "Because & " * 2_001
    form = {"action": "approve", "text": text, **get_hidden_fields(client, path)}
    answer = client.post(f"{path}rule/", form)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "\n" + text.replace("&", "&amp;") + "</textarea>" in html
    assert "The text is too long: at most 20,000 characters." in html
    # The dialog that asks for a reason is closed: it is said above the field that is not.
    aborting = {**form, "action": "abort", "text": "x", "reason": "x" * 20_001}
    html = client.post(f"{path}rule/", aborting).content.decode()
    assert re.search(r'id="alert".*?<p>The text is too long', html)


def count_loads(queries: list[dict[str, str]], review: str) -> int:
    """How often the row of this review is read, with or without what belongs to it."""
    read = re.compile(r'FROM "?reviews_review"? |^SELECT review\.id')
    codes = (review, review.replace("-", ""))
    return sum(
        bool(read.search(query["sql"])) and any(code in query["sql"] for code in codes)
        for query in queries
    )


def test_a_review_is_loaded_once_to_act_and_once_to_show_what_became_of_it(
    alice: Person, review: str, path: str
) -> None:
    client = open_browser(alice.user)
    seen = get_hidden_fields(client, path)

    def loads(verb: str, *, script: bool = True, **form: Any) -> int:
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(
                f"{path}{verb}/", form, headers=FRAGMENT if script else {}
            )
        assert answer.status_code in {200, 302, 422}
        return count_loads(queries.captured_queries, review)

    assert loads("comment", text=" ") == 1  # nothing was done: it is what it was
    assert loads("comment", text="A note") == 2
    assert loads("claim") == 2
    assert loads("release") == 2
    assert loads("rule", script=False, action="approve", **seen) == 1


def test_claim_and_release(alice: Person, bob: Person, path: str) -> None:
    hers, his = open_browser(alice.user), open_browser(bob.user)
    assert "Release" in send(hers, f"{path}claim/").content.decode()
    refused = send(his, f"{path}release/")
    assert refused.status_code == 403
    assert "Only its claimer or a manager" in refused.content.decode()
    assert "Take over" in fragment(his, path).content.decode()
    assert "Claim" in send(hers, f"{path}release/").content.decode()


def test_an_empty_note_is_no_note(alice: Person, path: str) -> None:
    answer = send(open_browser(alice.user), f"{path}comment/", text="  \n ")
    assert answer.status_code == 422
    assert "Write the note first" in answer.content.decode()


def test_a_run_is_aborted_once(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/{run}/abort/"
    assert send(client, path, reason="Enough").status_code == 204
    again = send(client, path, reason="Enough")
    assert again.status_code == 409
    assert "aborted" in again.content.decode()


@pytest.mark.parametrize("verb", ["rule", "claim", "release", "comment"])
def test_reading_never_changes_and_strangers_never_act(
    alice: Person, charlie: Person, path: str, verb: str
) -> None:
    read = open_browser(alice.user).get(f"{path}{verb}/")
    assert (read.status_code, read["Location"]) == (302, path)
    assert send(open_browser(charlie.user), f"{path}{verb}/").status_code == 404
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(alice.user)
    forged = careful.post(f"{path}{verb}/", headers=FRAGMENT)
    assert forged.status_code == 403


def test_an_open_pane_is_sent_again_once_somebody_adds_a_note(
    alice: Person, reviewer: httpx.Client, review: str, path: str
) -> None:
    client = open_browser(alice.user)
    pane = fragment(client, path).content.decode()
    seen = re.findall(r'"seen": "([^"]+)"', pane)[0]
    assert fragment(client, path, seen=seen).status_code == 204

    reviewer.post(f"/reviews/{review}/comments", json={"text": "Look at the logs"})

    again = fragment(client, path, seen=seen)
    assert again.status_code == 200
    assert "Look at the logs" in again.content.decode()
