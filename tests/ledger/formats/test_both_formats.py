"""Both formats of entries in one chain: verified, exported, judged again, answered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from checkrail.transport.jcs import to_jcs
from checkrail.verify import Broken, verify_lines
from django.core.management import call_command

from common.responses import to_json
from gateway.use_cases.answers.steps import build_decision_answer
from gateway.use_cases.step_payload import StepPayload
from guidance.core.canonical import hash_text, to_canonical_json
from ledger.chain import SealedEntry
from ledger.models import Entry
from ledger.models.packing import pack_text
from ledger.plan import WrittenText
from ledger.writer import changes
from tests.support.builders import start_run, step
from tests.support.people import rule

# Numbers that the formats write differently, in whatever an agent may send.
DECIMALS = {"whole": 1.0, "small": 1e-7, "large": 1e16, "deep": [{"x": -3.0}]}


@contextmanager
def write_format_1() -> Iterator[None]:
    """Entries as servers wrote them before format 2."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(changes, "FORMAT", 1)
        patch.setattr(changes, "to_jcs", to_canonical_json)
        patch.setattr(StepPayload, "write", write_as_before)
        patch.setattr(StepPayload, "write_answer", answer_as_before)
        yield


def write_as_before(payload: StepPayload) -> WrittenText:
    text = to_canonical_json(payload.to_json())
    return text, pack_text(text)


def answer_as_before(payload: StepPayload, entry: SealedEntry, **facts: Any) -> str:
    stored = json.loads(write_as_before(payload)[0])
    receipt = entry.build_receipt()
    return to_json(build_decision_answer(payload=stored, receipt=receipt, **facts))


def do_work(agent: httpx.Client, reviewer: httpx.Client, run: str, at: int) -> None:
    """Two steps, a call with its result, a confirmation that is amended."""
    for number in (at, at + 1):
        said = step(number, coherence=1.0, uncertainty=0.0, confidences=[1.0, 0.5])
        assert agent.post(f"/runs/{run}/steps", json=said).status_code == 201
    body: dict[str, Any] = {"kind": "tool", "tool": "T", "arguments": DECIMALS}
    call = agent.post(f"/runs/{run}/tool-calls", json=body).json()
    given = {"digest": call["digest"]}
    claimed = agent.post(f"/runs/{run}/tool-calls/{call['id']}/claim", json=given)
    assert claimed.json()["call"]["arguments"] == DECIMALS
    result = {"ok": True, "output": DECIMALS, "duration_ms": 1}
    path = f"/runs/{run}/tool-calls/{call['id']}/result"
    assert agent.post(path, json=result).status_code in {200, 201}
    assert agent.post(path, json=result).status_code in {200, 201}
    asked = agent.post(f"/runs/{run}/tool-calls", json=body | {"confirm": True}).json()
    amended = {"arguments": {"again": 2.0}}
    rule(reviewer, asked["review"]["id"], "amend", amended=amended)


@pytest.fixture
def run(agent: httpx.Client, reviewer: httpx.Client) -> str:
    with write_format_1():
        code = start_run(agent)
        do_work(agent, reviewer, code, 1)
    do_work(agent, reviewer, code, 3)
    return code


def read_lines(agent: httpx.Client, run: str) -> list[str]:
    return agent.get(f"/runs/{run}/ledger").text.splitlines(keepends=True)


def test_a_chain_of_both_formats_is_whole_and_comes_out_again(
    agent: httpx.Client, run: str
) -> None:
    call_command("ledger_verify", run=run)
    call_command("replay", run=run)
    assert agent.get(f"/runs/{run}/verify").json()["ok"]
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    call_command("ledger_verify", run=run)
    call_command("replay", run=run)


def test_an_export_of_both_formats_is_verified_offline(
    agent: httpx.Client, run: str
) -> None:
    lines = read_lines(agent, run)
    entries = [json.loads(line) for line in lines]
    formats = [entry["v"] for entry in entries]
    assert formats == sorted(formats)
    assert {*formats} == {1, 2}
    head = (entries[-1]["seq"], entries[-1]["hash"])
    assert verify_lines(lines, receipt=head).complete
    for place in (formats.index(2) - 2, formats.index(2)):
        other = 3 - formats[place]
        forged = lines[place].replace(f'"v":{formats[place]},', f'"v":{other},')
        assert forged != lines[place]
        with pytest.raises(Broken, match=f"entry {place + 1}: its (hash|payload)"):
            verify_lines([*lines[:place], forged, *lines[place + 1 :]])


def test_payloads_of_format_2_are_written_by_rfc_8785(
    agent: httpx.Client, run: str
) -> None:
    entries = Entry.objects.filter(run__code=run).order_by("seq")
    written = {1: to_canonical_json, 2: to_jcs}
    for entry in entries:
        assert entry.payload == written[entry.version](json.loads(entry.payload))
    settled = entries.filter(type="call.settled", version=2).get().payload
    assert '"large":10000000000000000,"small":1e-7,"whole":1}' in settled


@pytest.mark.parametrize("number", [1, 3], ids=["format 1", "format 2"])
def test_a_step_that_comes_again_is_answered_byte_for_byte(
    agent: httpx.Client, number: int
) -> None:
    run = start_run(agent)
    with write_format_1():
        said = [step(1, coherence=1.0), step(2, coherence=1.0, tokens=7)]
        first = [agent.post(f"/runs/{run}/steps", json=each) for each in said]
    said += [step(3, coherence=1.0), step(4, coherence=1.0, tokens=13)]
    first += [agent.post(f"/runs/{run}/steps", json=each) for each in said[2:]]
    again = agent.post(f"/runs/{run}/steps", json=said[number - 1])
    assert again.headers["idempotency-replayed"] == "true"
    assert again.content == first[number - 1].content
    batch = agent.post(f"/runs/{run}/steps/batch", json={"steps": said})
    answered = ",".join(each.text for each in first)
    assert batch.text == f'{{"decisions":[{answered}],"accepted":4}}'


def test_a_digest_can_be_computed_by_whoever_writes_rfc_8785(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    body = {"kind": "tool", "tool": "T", "arguments": {"n": 1.0, "tiny": 1e-7}}
    call = agent.post(f"/runs/{run}/tool-calls", json=body).json()
    text = (
        f'{{"arguments":{{"n":1,"tiny":1e-7}},"kind":"tool","run":"{run}","tool":"T"}}'
    )
    assert call["digest"] == hash_text(text)
