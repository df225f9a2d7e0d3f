"""What only an attacker does to an export: whole chains made anew, odd lines and ends."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from checkrail.verify import FINAL, GENESIS, LINE_LIMIT, Broken, main, verify_lines

from guidance.core.canonical import to_canonical_json
from ledger.chain import Link, hash_link, hash_payload

RUN = "0190b5a2-0000-7000-8000-000000000001"
OTHER = "0190b5a2-0000-7000-8000-000000000002"


def build_chain(*types: str, run: str = RUN) -> list[dict[str, Any]]:
    """A chain whose every hash is right, as whoever knows the format can make it."""
    entries: list[dict[str, Any]] = []
    for seq, kind in enumerate(types, 1):
        entry = {
            "v": 1,
            "run": run,
            "seq": seq,
            "at": "2026-01-01T00:00:00.000000Z",
            "type": kind,
            "actor": "agent:robo",
            "payload": {"b": "ä\u2028", "a": seq},
            "prev_hash": entries[-1]["hash"] if entries else GENESIS,
        }
        entries.append(seal(entry))
    return entries


def seal(entry: dict[str, Any]) -> dict[str, Any]:
    """As the server does it."""
    digest = hash_payload(to_canonical_json(entry["payload"]))
    link = Link(
        version=entry["v"],
        payload_sha256=digest,
        **{name: entry[name] for name in ("run", "seq", "at", "type", "actor")},
        prev_hash=entry["prev_hash"],
    )
    return {**entry, "payload_sha256": digest, "hash": hash_link(link)}


def write(entries: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(entry) for entry in entries]


def get_head(entries: list[dict[str, Any]]) -> tuple[int, str]:
    return entries[-1]["seq"], entries[-1]["hash"]


def test_a_whole_chain_made_anew_does_not_fit_the_receipt() -> None:
    ours = build_chain("run.started", "step.judged")
    forged = build_chain("run.started", "note")
    assert verify_lines(write(ours), receipt=get_head(ours)).complete
    with pytest.raises(Broken, match="entry 2: is not the entry the receipt was given"):
        verify_lines(write(forged), receipt=get_head(ours))


@pytest.mark.parametrize("end", sorted(FINAL))
def test_each_end_of_a_run_completes_its_ledger(end: str) -> None:
    chain = build_chain("run.started", end, "review.commented")
    result = verify_lines(write(chain))
    assert (result.complete, result.anchored) == (True, False)
    assert (result.entries, result.head) == (3, chain[-1]["hash"])
    assert not verify_lines(write(chain[:1])).complete


def test_what_goes_on_after_a_receipt_is_anchored_and_not_complete() -> None:
    chain = build_chain("run.started", "step.judged", "step.judged")
    result = verify_lines(write(chain), receipt=get_head(chain[:2]))
    assert (result.anchored, result.complete) == (True, False)


def test_an_entry_of_another_run_is_named_however_well_it_is_sealed() -> None:
    chain = build_chain("run.started", "step.judged")
    chain[1] = seal({**chain[1], "run": OTHER})
    with pytest.raises(Broken, match="entry 2: belongs to another run"):
        verify_lines(write(chain))


def test_each_field_is_covered() -> None:
    for change, words in (
        ({"seq": 3}, "missing, 3 stands in its place"),
        ({"prev_hash": GENESIS}, "does not follow the entry before it"),
        ({"payload": {}}, "its payload was changed"),
        ({"payload_sha256": "0" * 64}, "its payload was changed"),
        ({"at": "2026-01-01T00:00:01.000000Z"}, "its hash does not fit its fields"),
        ({"type": "run.finished"}, "its hash does not fit its fields"),
        ({"actor": "user:alice"}, "its hash does not fit its fields"),
        ({"hash": "0" * 64}, "its hash does not fit its fields"),
        ({"v": 2}, "its hash does not fit its fields"),
        ({"v": 3}, "format 3 is not known to this verifier"),
        ({"v": True}, "a field is missing or of another type"),
        ({"seq": 2.0}, "a field is missing or of another type"),
        ({"payload": []}, "a field is missing or of another type"),
        ({"actor": None}, "a field is missing or of another type"),
    ):
        chain = build_chain("run.started", "step.judged")
        chain[1] = {**chain[1], **change}
        with pytest.raises(Broken) as broken:
            verify_lines(write(chain))
        assert (broken.value.seq, broken.value.reason) == (2, words), change


def test_lines_that_are_no_entries_are_named() -> None:
    first = write(build_chain("run.started"))
    for line, words in (
        ("{", "its line is not JSON"),
        ("[" * 100_000, "its line is not JSON"),
        ("[]", "a field is missing or of another type"),
        (" " * (LINE_LIMIT + 1), "its line is too long"),
        (" " * LINE_LIMIT, "its line is not JSON"),
    ):
        with pytest.raises(Broken) as broken:
            verify_lines([*first, line])
        assert (broken.value.seq, broken.value.reason) == (2, words)


def test_a_file_is_read_and_the_answer_is_in_words_and_in_the_code(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chain = build_chain("run.started", "run.finished")
    path = tmp_path / "ledger.ndjson"
    path.write_text("".join(line + "\n" for line in write(chain)), encoding="utf-8")
    head = chain[-1]["hash"]

    assert main([str(path)]) == 0
    assert capsys.readouterr().out == f"COMPLETE 2 entries, head {head}\n"
    assert main([str(path), "--head", f"2:{head}"]) == 0
    assert main([str(path), "--head", f"2:{'0' * 64}"]) == 1
    assert "BROKEN entry 2" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO(write(chain)[0]))
    assert main(["-"]) == 3
    assert "--head SEQ:HASH" in capsys.readouterr().out
    path.write_bytes(b"\xff\n")
    assert main([str(path)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    for wrong in (f"x:{head}", f"2:{head[1:]}", head):
        with pytest.raises(SystemExit) as usage:
            main([str(path), "--head", wrong])
        assert usage.value.code == 2
