"""Payloads and hashes are kept shorter than they read."""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b64decode, b64encode
from random import Random

import httpx
import pytest
from django.core.management import call_command
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from ledger.models import Entry, Run
from ledger.models.hashes import expand_hash, shorten_hash
from ledger.models.packing import (
    DICTIONARY,
    MARK,
    PACKED,
    SHORT_TEXT,
    pack_text,
    unpack_text,
)
from ledger.models.step_form import STEP_MARK
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import pause_at_once, start_run, step
from tests.support.examples import examples

KEPT = ("payload", "payload_sha256", "prev_hash", "hash")


def read_kept(run: str, seq: int) -> dict[str, str]:
    """As the columns stand in the database."""
    sql = f"SELECT {', '.join(KEPT)} FROM ledger_entry WHERE run_id = %s AND seq = %s"
    with connection.cursor() as cursor:
        cursor.execute(sql, [Run.objects.get(code=run).pk, seq])
        return dict(zip(KEPT, cursor.fetchone(), strict=True))


def test_the_dictionary_is_for_ever() -> None:
    """Without it nothing can be read that was packed with it."""
    assert hashlib.sha256(DICTIONARY).hexdigest() == (
        "632b525e5375acd75b60f23ab4080d3220ab580d4ae3e08fade3993841b71c4b"
    )
    kept = "z1:q0YqBxB5qwKkESk3oLcpamsB"
    assert unpack_text(kept) == (
        '{"report":{"summary":"x"},"verdict":{"decision":"stop"}}'
    )


@examples(300)
@given(st.text(), st.integers(0, 60))
def test_what_is_packed_is_read_again(text: str, times: int) -> None:
    payload = json.dumps({"summary": text * times, "tokens": times})
    kept = pack_text(payload)
    assert unpack_text(kept) == payload
    assert len(kept) <= len(payload)


@pytest.mark.parametrize("more", [-3_000, -1_000, -1, 0, 1, 1_000])
def test_a_short_text_is_packed_as_well_as_a_long_one(more: int) -> None:
    """By a packer that remembers less."""
    dice = Random(more)
    words = (f"{dice.randrange(2**16):x}" for _ in range(SHORT_TEXT))
    payload = f'{{"summary":"{" ".join(words)}'[: SHORT_TEXT + more]
    packer = zlib.compressobj(3, zlib.DEFLATED, -15, 8, 0, DICTIONARY)
    plain = b64encode(packer.compress(payload.encode()) + packer.flush())
    kept = pack_text(payload)
    assert unpack_text(kept) == payload
    assert len(kept) < len(plain) * 1.03


@examples(300)
@given(st.binary(min_size=32, max_size=32))
def test_a_hash_is_shorter_and_read_again(data: bytes) -> None:
    kept = shorten_hash(data.hex())
    assert len(kept) == 43
    assert expand_hash(kept) == data.hex()
    assert expand_hash(data.hex()) == data.hex()


@pytest.mark.parametrize("kept", ["", "f" * 63, "~" * 43, "é" * 43, "A" * 42 + "B"])
def test_what_is_no_hash_stays_as_it_is(kept: str) -> None:
    assert expand_hash(kept) == kept


BOMB = b64encode(b"\x00" * 10).decode()


@pytest.mark.parametrize("kept", [MARK, f"{MARK}!", f"{MARK}AAAA", f"{MARK}{BOMB}"])
def test_what_cannot_be_unpacked_is_an_error(kept: str) -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpack_text(kept)


def test_a_text_that_goes_on_behind_its_end_is_an_error() -> None:
    kept = pack_text('{"summary":"' + "x" * 200 + '"}')
    longer = MARK + b64encode(b64decode(kept[len(MARK) :]) + b"more").decode()
    with pytest.raises(ValueError, match="damaged"):
        unpack_text(longer)


def test_steps_are_packed_and_read_as_they_were_written(agent: httpx.Client) -> None:
    run = start_run(agent)
    answer = agent.post(f"/runs/{run}/steps", json=step(1, summary="“Größe”")).json()
    entry = Entry.objects.get(run__code=run, seq=2)
    kept = read_kept(run, 2)
    assert kept["payload"].startswith(STEP_MARK)
    assert len(kept["payload"]) * 3 < len(entry.payload)
    assert json.loads(entry.payload)["report"]["summary"] == "“Größe”"
    assert entry.hash == answer["receipt"]["hash"]
    assert kept["hash"] == shorten_hash(entry.hash)
    assert kept["prev_hash"] == read_kept(run, 1)["hash"]
    assert read_kept(run, 1)["payload"].startswith("{")
    values = Entry.objects.filter(pk=entry.pk).values_list("payload", "hash")
    assert list(values) == [(entry.payload, entry.hash)]


def test_only_steps_are_packed(agent: httpx.Client) -> None:
    """Of other types the database itself searches the words."""
    run = start_run(agent, task="word " * 100)
    pause_at_once(agent, run)
    entries = Entry.objects.filter(run__code=run)
    packed = entries.filter(payload__startswith=PACKED)
    assert list(packed.values_list("type", flat=True)) == ["step.judged"]
    assert entries.exclude(payload__startswith="{").count() == 1


def test_both_forms_are_verified_in_one_chain(
    agent: httpx.Client, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start_run(agent)
    for number in (1, 2, 3):
        agent.post(f"/runs/{run}/steps", json=step(number))
    row = Run.objects.get(code=run)
    entry = Entry.objects.get(run=row, seq=2)
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s, payload_sha256 = %s, prev_hash = %s, "
            "hash = %s WHERE id = %s",
            [*(getattr(entry, name) for name in KEPT), entry.pk],
        )
    assert read_kept(run, 2)["payload"] == entry.payload
    call_command("ledger_verify", run=run)
    call_command("replay", run=run)
    exported = agent.get(f"/runs/{run}/ledger").text.splitlines()
    assert json.loads(exported[1])["hash"] == entry.hash
    whole = read_kept(run, 3)["payload"]
    edit = "UPDATE ledger_entry SET payload = %s WHERE run_id = %s AND seq = 3"
    with without_triggers("ledger_entry"):
        run_sql(edit, [whole[:-8], row.pk])
    with pytest.raises(SystemExit):
        call_command("ledger_verify", run=run)
    with without_triggers("ledger_entry"):
        run_sql(edit, [whole, row.pk])  # other tests read all that is stored
    shown = capsys.readouterr()
    assert "a packed text is damaged" in shown.out + shown.err
