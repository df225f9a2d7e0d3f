"""Idempotency-Key: the same request again has the same answer and one effect."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.idempotency import (
    Idempotency,
    build_idempotency,
    build_own_key,
    build_record,
    delete_old_keys,
    list_recorded_answers,
)
from ledger.models import IdempotencyRecord
from tests.conftest import client_for
from tests.support.builders import Robot, make_robot, start_run, step
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.threads import Threads

KEY = {"Idempotency-Key": "key-1"}


def ask(client: httpx.Client, run: str) -> str:
    asked = {"kind": "request", "title": "May I?"}
    code: str = client.post(f"/runs/{run}/reviews", json=asked).json()["id"]
    return code


def check(client: httpx.Client, run: str) -> str:
    body = {"step": 0, "gates": ["test-suite"]}
    code: str = client.post(f"/runs/{run}/gate-checks", json=body).json()["id"]
    return code


# Every POST of an agent that changes something: its address and body.
POSTS: dict[str, Callable[[httpx.Client, str], tuple[str, Any]]] = {
    "start": lambda _, run: ("/runs", {"task": "t"}),
    "step": lambda _, run: (f"/runs/{run}/steps", step(1)),
    "batch": lambda _, run: (f"/runs/{run}/steps/batch", {"steps": [step(1), step(2)]}),
    "checkpoint": lambda _, run: (f"/runs/{run}/checkpoints", {"step": 0}),
    "ask": lambda _, run: (f"/runs/{run}/reviews", {"kind": "question", "title": "?"}),
    "check": lambda _, run: (
        f"/runs/{run}/gate-checks",
        {"step": 0, "gates": ["test-suite"]},
    ),
    "verdict": lambda client, run: (
        f"/runs/{run}/gate-checks/{check(client, run)}/verdicts",
        {"text": "GATE_REVIEW: FAIL - no"},
    ),
    "turn": lambda _, run: (f"/runs/{run}/turns", {"content": "Shall I go on?"}),
    "finish": lambda _, run: (f"/runs/{run}/finish", {"outcome": "failed"}),
    "withdraw": lambda client, run: (f"/reviews/{ask(client, run)}/withdraw", None),
}


def send(
    client: httpx.Client, path: str, body: Any, headers: dict[str, str] = KEY
) -> httpx.Response:
    more = {} if body is None else {"json": body}
    return client.post(path, headers=headers, **more)


@pytest.mark.parametrize("name", POSTS)
def test_the_same_key_and_body_have_the_same_answer_and_one_effect(
    agent: httpx.Client, name: str
) -> None:
    run = start_run(agent)
    path, body = POSTS[name](agent, run)
    first = send(agent, path, body)
    assert first.is_success, first.text
    runs = agent.get("/runs").content

    again = send(agent, path, body)

    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.status_code == first.status_code
    assert again.content == first.content
    assert again.headers["content-type"] == first.headers["content-type"]
    assert agent.get("/runs").content == runs


@pytest.mark.parametrize("name", POSTS)
def test_eight_at_once_have_one_effect(agent: httpx.Client, name: str) -> None:
    run = start_run(agent)
    path, body = POSTS[name](agent, run)

    with Threads(8) as pool:
        answers = list(pool.map(lambda _: send(agent, path, body), range(8)))

    assert {answer.status_code for answer in answers} == {answers[0].status_code}
    assert len({answer.content for answer in answers}) == 1
    replayed = [answer.headers.get("idempotency-replayed") for answer in answers]
    assert sorted(replayed, key=str) == [None] + ["true"] * 7
    assert len(agent.get("/runs").json()["items"]) == (2 if name == "start" else 1)


def test_the_same_key_for_another_request_is_refused(agent: httpx.Client) -> None:
    run, other = start_run(agent), start_run(agent)
    send(agent, f"/runs/{run}/steps", step(1))

    refused = [
        send(agent, f"/runs/{run}/steps", step(2)),
        send(agent, f"/runs/{run}/steps", step(1, tokens=5)),
        send(agent, f"/runs/{other}/steps", step(1)),
        send(agent, f"/runs/{run}/checkpoints", {"step": 1}),
        send(agent, "/runs", {"task": "t"}),
    ]

    for answer in refused:
        problem(answer, "idempotency-key-reuse")
    assert agent.get(f"/runs/{run}").json()["head"]["seq"] == 2
    assert agent.get(f"/runs/{other}").json()["head"]["seq"] == 1
    assert len(agent.get("/runs").json()["items"]) == 2


def test_each_key_of_an_agent_is_for_a_request_of_its_own(agent: httpx.Client) -> None:
    answers = [
        send(agent, "/runs", {"task": task}, {"Idempotency-Key": key})
        for key, task in (("a", "t"), ("b", "t"), ("c", "u"), ("a", "t"))
    ]

    assert [answer.status_code for answer in answers] == [201] * 4
    first, second, third, again = (answer.json()["id"] for answer in answers)
    assert len({first, second, third}) == 3
    assert again == first


def test_two_bodies_at_once_with_one_key_have_one_effect(agent: httpx.Client) -> None:
    bodies = [{"task": f"task {number}"} for number in range(6)]

    with Threads(6) as pool:
        answers = list(pool.map(lambda body: send(agent, "/runs", body), bodies))

    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [201] + [422] * 5
    assert len(agent.get("/runs").json()["items"]) == 1


def test_a_refusal_does_not_burn_the_key(agent: httpx.Client) -> None:
    run = start_run(agent)
    problem(send(agent, f"/runs/{run}/steps", step(2)), "step-out-of-order")
    problem(send(agent, f"/runs/{run}/steps", step(1, tokens=-1)), "invalid")
    problem(send(agent, "/runs", {"task": "t", "policy": "none"}), "invalid")

    assert send(agent, f"/runs/{run}/steps", step(1)).status_code == 201


def test_a_key_belongs_to_its_agent(
    agent: httpx.Client, live: Live, project: Project
) -> None:
    with client_for(live, make_robot("other", project=project)) as other:
        first = send(agent, "/runs", {"task": "t"})
        second = send(other, "/runs", {"task": "t"})

    assert first.status_code == second.status_code == 201
    assert "idempotency-replayed" not in second.headers
    assert first.json()["id"] != second.json()["id"]


def test_a_key_is_1_to_255_visible_characters(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[str] = ["", "k" * 256, "a b", "a\tb", "é"]
    for key in cases:
        with subtests.test(key=key):
            header = [("Idempotency-Key", key.encode("latin-1"))]

            answer = agent.post("/runs", json={"task": "t"}, headers=header)  # type: ignore[arg-type]

            problem(answer, "malformed")
            assert agent.get("/runs").json()["items"] == []


def test_the_longest_key_is_taken(agent: httpx.Client) -> None:
    key = {"Idempotency-Key": "~!" * 127 + "x"}

    assert send(agent, "/runs", {"task": "t"}, key).status_code == 201
    again = send(agent, "/runs", {"task": "t"}, key)

    assert again.headers["idempotency-replayed"] == "true"


def test_a_key_speaks_of_the_bytes_that_were_sent(agent: httpx.Client) -> None:
    """The step itself may be told in other words; a key may not."""
    run = start_run(agent)
    send(agent, f"/runs/{run}/steps", step(1))

    other_words = send(agent, f"/runs/{run}/steps", step(1, rework=False))

    problem(other_words, "idempotency-key-reuse")


def test_a_keyed_step_that_is_stored_already_is_replayed(agent: httpx.Client) -> None:
    run = start_run(agent)
    first = agent.post(f"/runs/{run}/steps", json=step(1))

    keyed = send(agent, f"/runs/{run}/steps", step(1))

    assert keyed.content == first.content
    assert keyed.headers["idempotency-replayed"] == "true"


def test_keys_are_forgotten_after_72_hours(
    agent: httpx.Client, project: Project
) -> None:
    send(agent, "/runs", {"task": "t"})
    records = IdempotencyRecord.objects.filter(agent__project=project)
    records.update(created_at=timezone.now() - timedelta(hours=71))
    delete_old_keys()
    assert records.count() == 1

    records.update(created_at=timezone.now() - timedelta(hours=73))
    delete_old_keys()

    assert records.count() == 0


def test_however_many_keys_are_asked_for_all_answers_are_found(robo: Robot) -> None:
    agent_id = robo.principal.agent_id
    keys = [build_own_key(str(number), agent_id=agent_id) for number in range(1_001)]
    for number in (0, 499, 500, 1_000):
        answer = {"number": number}
        build_record(keys[number], body=answer, at=timezone.now()).save()

    found = list_recorded_answers(keys)

    assert sorted(answer["number"] for answer in found.values()) == [0, 499, 500, 1_000]


def bind(**parts: Any) -> Idempotency:
    given: dict[str, Any] = {"key": "k", "agent_id": 1, "method": "POST"}
    given |= {"path": "/a", "body": b"bc"}
    bound = build_idempotency(**given | parts)
    assert bound is not None
    return bound


def test_a_key_is_bound_to_its_whole_request() -> None:
    others: list[dict[str, Any]] = [
        {"method": "PUT"},
        {"path": "/b"},
        {"path": "/ab", "body": b"c"},  # where one ends and the next begins counts, too
        {"body": b"bd"},
        {"body": b""},
    ]
    bound = [bind(), *(bind(**parts) for parts in others)]
    assert len({each.fingerprint for each in bound}) == len(bound)
    assert len({each.key for each in bound}) == 1
    assert bind(key="l").key != bind().key
    assert bind(agent_id=7).agent_id == 7
    assert bind() == bind()
    assert (
        build_idempotency(key=None, agent_id=1, method="POST", path="/a", body=b"")
        is None
    )


def test_what_is_kept_of_a_request_cannot_be_tried_out() -> None:
    """A key or a body may hold a short secret: its plain hash would give it away."""
    bound = bind()
    plain = {
        hashlib.sha256(text).hexdigest() for text in (b"k", b"bc", b"POST\0/a\0bc")
    }
    assert not plain & {bound.key, bound.fingerprint}
    assert "k" not in (bound.key, bound.fingerprint)


def test_our_own_keys_are_nobody_elses() -> None:
    own = [
        build_own_key("a", "b", agent_id=1),
        build_own_key("ab", agent_id=1),
        build_own_key("b", "a", agent_id=1),
    ]
    sent = [bind(key=key) for key in ("a", "ab", "checkrail", "checkrailab")]
    assert len({each.key for each in (*own, *sent)}) == 7
    assert all(each.key == each.fingerprint for each in own)


def test_answers_are_found_by_the_agent_they_were_given_to(
    robo: Robot, project: Project
) -> None:
    other = make_robot("other", project=project)
    ids = [each.principal.agent_id for each in (robo, other)]
    for agent_id in ids:
        key = build_own_key("same", agent_id=agent_id)
        build_record(key, body={"agent": agent_id}, at=timezone.now()).save()

    for agent_id in ids:
        key = build_own_key("same", agent_id=agent_id)
        assert list_recorded_answers([key]) == {key.key: {"agent": agent_id}}
    stored = IdempotencyRecord.objects.get(agent_id=ids[0])
    assert (stored.status, stored.fingerprint) == (201, key.fingerprint)
    assert list_recorded_answers([]) == {}


def test_of_many_keys_only_the_old_ones_are_forgotten(robo: Robot) -> None:
    delete_old_keys()
    agent_id = robo.principal.agent_id
    for hours in (0, 71, 73, 100):
        at = timezone.now() - timedelta(hours=hours)
        key = build_own_key(str(hours), agent_id=agent_id)
        build_record(key, body={"hours": hours}, at=at).save()

    assert delete_old_keys() == 2

    kept = IdempotencyRecord.objects.filter(agent_id=agent_id)
    assert sorted(kept.values_list("body", flat=True)) == [
        '{"hours": 0}',
        '{"hours": 71}',
    ]


def get_record(project: Project) -> IdempotencyRecord:
    return IdempotencyRecord.objects.get(agent__project=project)


def test_of_a_step_that_goes_on_no_second_copy_is_kept(
    agent: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    body = step(1, coherence=1.0, uncertainty=0.0)
    first = send(agent, f"/runs/{run}/steps", body)
    assert get_record(project).body == f"#{first.json()['receipt']['seq']}"
    assert agent.post(f"/runs/{run}/steps", json=step(2)).status_code == 201

    again = send(agent, f"/runs/{run}/steps", body)

    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    problem(send(agent, f"/runs/{run}/steps", step(3)), "idempotency-key-reuse")


def test_what_an_entry_does_not_say_is_kept(
    agent: httpx.Client, project: Project
) -> None:
    """The link to a review has names in it."""
    run = start_run(agent)
    body = step(1, uncertainty=0.99)
    first = send(agent, f"/runs/{run}/steps", body)
    assert first.json()["review"] is not None, first.text
    assert get_record(project).body == first.text
    assert send(agent, f"/runs/{run}/steps", body).content == first.content


def test_a_record_of_before_is_found_by_its_long_key(
    agent: httpx.Client, project: Project, robo: Robot
) -> None:
    """As servers stored them that kept all of the key and every answer."""
    run = start_run(agent)
    first = send(agent, f"/runs/{run}/steps", step(1))
    record = get_record(project)
    bound = build_idempotency(
        key=KEY["Idempotency-Key"],
        agent_id=robo.principal.agent_id,
        method="POST",
        path=f"/api/v1/runs/{run}/steps",
        body=first.request.content,
    )
    assert bound is not None
    assert (record.key, record.fingerprint) == (bound.key, bound.fingerprint)
    assert (len(bound.key), len(bound.long_key)) == (16, 64)
    IdempotencyRecord.objects.filter(pk=record.pk).update(
        key=bound.long_key, fingerprint=bound.long_fingerprint, body=first.text
    )

    again = send(agent, f"/runs/{run}/steps", step(1))
    assert again.content == first.content
    problem(send(agent, f"/runs/{run}/steps", step(2)), "idempotency-key-reuse")

    own = build_own_key("x", agent_id=robo.principal.agent_id)
    IdempotencyRecord.objects.filter(pk=record.pk).update(
        key=own.long_key, body='{"a": 1}'
    )
    assert list_recorded_answers([own]) == {own.key: {"a": 1}}
