"""Check an exported ledger offline: standard library only, no server needed.

Each line is one entry. An entry's hash covers its own fields, the hash of its payload
and the hash of the entry before it, every field behind its length. In format 2 payloads are
written by RFC 8785, in format 1 as Python writes JSON with sorted keys. The file is read a
line at a time, so its size does not matter.

A chain that was cut is a shorter chain, as good as any. So there are three answers:
complete (exit 0), a prefix whose end is not proven (3), and broken (1). The end is proven
by an entry that closes the run for ever, or by the head that the server or an agent's
receipt names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from checkrail.transport.jcs import to_jcs

FORMATS = frozenset({1, 2})
GENESIS = "0" * 64
LINE_LIMIT = 4 * 1024 * 1024
# After one of these nothing is done in the run any more; at most something is said of it.
# A stopped run may be reopened, so `run.stopped` does not end a complete ledger.
FINAL = frozenset({"run.finished", "run.aborted", "run.abandoned"})
COMPLETE, BROKEN, UNREADABLE, PREFIX = 0, 1, 2, 3


class Broken(Exception):
    """The chain does not hold; `seq` is the first entry that is wrong."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(f"entry {seq}: {reason}")
        self.seq = seq
        self.reason = reason


@dataclass(frozen=True)
class Verified:
    """A chain that holds. `anchored`: it has the entry of the given receipt. `complete`:
    nothing can have been cut off its end; otherwise it is a prefix of what there may be."""

    entries: int
    head: str
    anchored: bool
    complete: bool


def verify_lines(
    lines: Iterable[str], *, receipt: tuple[int, str] | None = None
) -> Verified:
    """Walk the chain; raises Broken at the first fault."""
    seq, prev, run, anchored, closed = 0, GENESIS, None, False, False
    for line in lines:
        entry = _parse_entry(line, seq + 1)
        if entry["seq"] != seq + 1:
            raise Broken(seq + 1, f"missing, {entry['seq']} stands in its place")
        if run is not None and entry["run"] != run:
            raise Broken(seq + 1, "belongs to another run")
        if entry["prev_hash"] != prev:
            raise Broken(seq + 1, "does not follow the entry before it")
        if _compute_payload_hash(entry) != entry["payload_sha256"]:
            raise Broken(seq + 1, "its payload was changed")
        if _compute_entry_hash(entry) != entry["hash"]:
            raise Broken(seq + 1, "its hash does not fit its fields")
        seq, prev, run = entry["seq"], entry["hash"], entry["run"]
        closed = closed or entry["type"] in FINAL
        if receipt is not None and receipt[0] == seq:
            if receipt[1] != prev:
                raise Broken(seq, "is not the entry the receipt was given for")
            anchored = True
    if receipt is not None and not anchored:
        raise Broken(seq + 1, f"missing: the receipt is for entry {receipt[0]}")
    at_the_end = receipt is not None and receipt[0] == seq
    return Verified(
        entries=seq, head=prev, anchored=anchored, complete=closed or at_the_end
    )


_FIELDS = {
    "v": int,
    "run": str,
    "seq": int,
    "at": str,
    "type": str,
    "actor": str,
    "payload": dict,
    "payload_sha256": str,
    "prev_hash": str,
    "hash": str,
}


def _parse_entry(line: str, seq: int) -> dict[str, Any]:
    if len(line) > LINE_LIMIT:
        raise Broken(seq, "its line is too long")
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        raise Broken(seq, "its line is not JSON") from None
    if not isinstance(entry, dict) or any(
        type(entry.get(name)) is not kind for name, kind in _FIELDS.items()
    ):
        raise Broken(seq, "a field is missing or of another type")
    if entry["v"] not in FORMATS:
        raise Broken(seq, f"format {entry['v']} is not known to this verifier")
    return entry


def _compute_payload_hash(entry: dict[str, Any]) -> str | None:
    """None where the payload cannot have been written so."""
    payload = entry["payload"]
    try:
        if entry["v"] == 1:
            text = json.dumps(
                payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False
            )
        else:
            text = to_jcs(payload)
    except (ValueError, RecursionError):
        return None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _compute_entry_hash(entry: dict[str, Any]) -> str:
    fields: tuple[str, ...] = (
        "checkrail.entry",
        str(entry["v"]),
        entry["run"],
        str(entry["seq"]),
        entry["at"],
        entry["type"],
        entry["actor"],
        entry["payload_sha256"],
        entry["prev_hash"],
    )
    form = bytearray()
    for field in fields:
        raw = field.encode("utf-8", "surrogatepass")
        form += len(raw).to_bytes(4, "big") + raw
    return hashlib.sha256(form).hexdigest()


def _parse_receipt(text: str) -> tuple[int, str]:
    seq, _, digest = text.partition(":")
    if not seq.isdigit() or len(digest) != 64:
        raise argparse.ArgumentTypeError("SEQ:HASH, as in an answer's receipt")
    return int(seq), digest


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Verify an exported ledger offline.",
        epilog="Exit code: 0 complete, 3 a prefix whose end is not proven, 1 broken, "
        "2 the file cannot be read.",
    )
    parser.add_argument("file", help="NDJSON of GET /runs/{run}/ledger, - for stdin")
    parser.add_argument(
        "--head",
        type=_parse_receipt,
        metavar="SEQ:HASH",
        help="the run's head as the server names it, or the last receipt of the agent",
    )
    options = parser.parse_args(arguments)
    try:
        if options.file == "-":
            result = verify_lines(sys.stdin, receipt=options.head)
        else:
            with open(options.file, encoding="utf-8") as lines:
                result = verify_lines(lines, receipt=options.head)
    except Broken as broken:
        print(f"BROKEN {broken}")
        return BROKEN
    except (OSError, UnicodeDecodeError) as error:
        print(f"The file cannot be read: {error}", file=sys.stderr)
        return UNREADABLE
    found = f"{result.entries} entries, head {result.head}"
    if result.complete:
        print(f"COMPLETE {found}")
        return COMPLETE
    print(f"PREFIX {found}")
    print(
        "These entries hold, but the end is not proven: the run is not closed, and "
        "entries may have been cut off. Give the head by --head SEQ:HASH."
    )
    return PREFIX


if __name__ == "__main__":
    sys.exit(main())
