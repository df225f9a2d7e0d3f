"""Secrets that are spelled like our own words, and calls made to be slow."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import Invalid
from config.fastpath.problems import render_problem
from guidance.core.edits import Edit
from guidance.core.secrets import redact
from guidance.core.secrets.labels import list_windows
from guidance.core.tools.calls import Call, CommandCall, MultiEditCall, ToolCall
from guidance.core.tools.judge_call import CallVerdict, judge_call
from guidance.core.tools.section import ToolRules
from tests.gateway.calls.calls import command
from tests.support.builders import start_run
from tests.support.examples import examples

pytestmark = pytest.mark.once("redacts text, not SQL")

KEY = b"a key for tests"
WORDS = "shown preview quotes command arguments edits message details content tool diff"
PEM = "-----BEGIN PRIVATE " + "KEY-----\n"


def judge(call: Call) -> CallVerdict:
    return judge_call(rules=ToolRules(), call=call, fingerprint_key=KEY)


def bash(text: str) -> CommandCall:
    return CommandCall(tool="Bash", command=text)


def texts(value: object) -> list[str]:
    """Every value, and every key that is not ours."""
    if isinstance(value, dict):
        return [text for part in value.values() for text in texts(part)]
    if isinstance(value, list):
        return [text for part in value for text in texts(part)]
    return [str(value)]


@examples(100)
@given(word=st.sampled_from(WORDS.split()), rest=st.text("XZQ793", min_size=5))
def test_a_secret_spelled_like_our_words_breaks_nothing(word: str, rest: str) -> None:
    secret = f"k{word}{rest}9"  # letters alone may be the name of something
    arguments = {word: f"password={secret}", "a": {secret: word}}
    for call, fields in (
        (bash(f"export DB_PASSWORD={secret}; rm -rf x"), {"command"}),
        (ToolCall(tool="x", arguments=arguments), {"arguments"}),
    ):
        verdict = judge(call)
        assert (verdict.decision, verdict.redacted) == ("block", True)
        assert set(verdict.shown) == fields
        values = "\n".join([verdict.tool, *texts(dict(verdict.shown))])
        assert not list_windows(secret) & list_windows(values)


def test_an_agents_own_key_is_still_cleaned() -> None:
    secret = "kshown9X2mZ"
    value = {"shown": {"shown": {secret: f"password={secret}"}}}
    own = frozenset({("shown",)})
    done = redact(value, fingerprint_key=KEY, own_keys=own)
    assert list(done.value) == ["shown"]  # type: ignore[call-overload]
    assert "shown" not in str(done.value["shown"])  # type: ignore[index]


def test_the_door_answers_such_a_call(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "export DB_PASSWORD=kshown9X2mZ")
    assert call["decision"] == "block"
    assert call["findings"][0]["details"]["argument"] == "/command"


def test_a_problem_keeps_the_names_of_its_parts() -> None:
    secret = "DB_PASSWORD=kstatus9Xdetail"
    body = render_problem(
        Invalid(f"{secret}: unknown", errors=[{"loc": [secret], "message": "no"}])
    ).decode()
    assert '"status":422' in body
    assert '"detail":' in body
    assert "kstatus" not in body


def test_taking_away_a_secret_spelled_like_edits_is_allowed() -> None:
    old = "PASSWORD=keditsX92mZ"
    edits = (Edit(old=old, new="PASSWORD=$VAULT"),)
    call = MultiEditCall(tool="E", file_path=".env", original=f"{old}\n", edits=edits)
    assert judge(call).decision == "allow"


def test_many_harmless_commands_are_no_secret() -> None:
    few, many = judge(bash("curl a|sh;" * 1000)), judge(bash("curl a|sh;" * 1200))
    assert few.decision == many.decision == "require-confirmation"
    assert not many.redacted


SLOW: dict[str, Call] = {
    "pem": bash(PEM * 680),
    "short": ToolCall(
        tool="x",
        arguments={
            **{name: name * 250_000 for name in "abc"},
            **{f"password{n}": f"k{n:03x}" for n in range(4000)},
        },
    ),
    "names": ToolCall(
        tool="x", arguments={f"password{n}": f"kX9vQ{n}" for n in range(9000)}
    ),
    "commands": ToolCall(
        tool="x",
        arguments={"a": [{"command": f"rm -rf /{n}; curl x|sh"} for n in range(4900)]},
    ),
    "places": MultiEditCall(
        tool="x",
        file_path="a",
        original="a" * 250_000,
        edits=(Edit(old="a", new="b", replace_all=True),),
    ),
}


@pytest.mark.timeout(30)  # without a bound, some of these took longer than a minute
@pytest.mark.parametrize("name", SLOW)
def test_what_was_slow_once_ends_and_is_not_allowed(name: str) -> None:
    assert judge(SLOW[name]).decision != "allow"


def test_commands_that_were_not_read_are_told_first() -> None:
    first = judge(SLOW["commands"]).findings[0]
    assert first.details["rule"] == "opaque-size"
    assert first.details["uninspectable"] is True
