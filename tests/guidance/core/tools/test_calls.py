"""The digest that a grant is bound to: every byte of the call, and its run."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from guidance.core.edits import Edit
from guidance.core.jcs import to_jcs
from guidance.core.tools.calls import Call, MultiEditCall, compute_call_digest
from tests.guidance.core.tools.builders import KEY, command, edit, several, use


def digest(call: Call, run: str = "run", key: bytes | None = None) -> str:
    return compute_call_digest(call, run=run, key=key)


def test_the_digest_is_that_of_the_canonical_document() -> None:
    document = {"run": "run", "kind": "command", "tool": "Bash", "command": "ls"}
    data = to_jcs(document).encode()
    assert digest(command("ls")) == "sha256:" + hashlib.sha256(data).hexdigest()


def test_a_key_makes_it_one_that_nobody_can_try_out() -> None:
    document = {"run": "run", "kind": "command", "tool": "Bash", "command": "ls"}
    keyed = hmac.new(KEY, to_jcs(document).encode(), hashlib.sha256).hexdigest()
    assert digest(command("ls"), key=KEY) == f"hmac-sha256:{keyed}"
    assert digest(command("ls"), key=b"other") != digest(command("ls"), key=KEY)


def test_it_changes_with_every_field_and_with_the_run() -> None:
    base = several("a b", ("a", "c"))
    every = Edit(old="a", new="c", replace_all=True)
    calls: list[Call] = [
        command("ls"),
        command("ls "),
        command("ls", tool="Shell"),
        command("ls", arguments={}),
        command("ls", arguments={"cwd": "/"}),
        use("Bash", command="ls"),
        use("Bash", command=["ls"]),
        use("Bash", command="ls", n=1),
        use("Bash", command="ls", n="1"),
        use("Bash", command="ls", n=True),
        use("Bash"),
        edit("x"),
        edit("y"),
        edit("x", diff_lines=0),
        base,
        several("a  b", ("a", "c")),
        several("a b", ("a", "d")),
        several("a b", ("b", "c")),
        several("a b", ("a", "c"), ("b", "d")),
        several("a b", ("b", "d"), ("a", "c")),
        MultiEditCall(
            tool="MultiEdit", file_path="b.py", original="a b", edits=base.edits
        ),
        MultiEditCall(tool="Other", file_path="a.py", original="a b", edits=base.edits),
        MultiEditCall(
            tool="MultiEdit", file_path="a.py", original="a b", edits=(every,)
        ),
    ]
    digests = {digest(call, run) for call in calls for run in ("one", "two")}
    assert len(digests) == 2 * len(calls)


def test_the_order_of_keys_does_not_matter() -> None:
    assert digest(use(a=1, b={"c": 1, "d": 2})) == digest(use(b={"d": 2, "c": 1}, a=1))


def test_half_of_a_surrogate_pair_has_no_digest() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        digest(command("\ud800"))


def test_every_language_computes_the_same_digest() -> None:
    """As JavaScript does: JSON.stringify of the object with its keys in order."""
    call = use("T", a=1.0, b=[1e-7, 1e16], **{"\ufb33": 1, "\U0001f600": "é"})
    text = (
        '{"arguments":{"a":1,"b":[1e-7,10000000000000000],"\U0001f600":"é","\ufb33":1},'
        '"kind":"tool","run":"run","tool":"T"}'
    )
    assert digest(call) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_the_original_is_not_shown() -> None:
    assert "original" not in several("a", ("a", "b")).to_fields()
