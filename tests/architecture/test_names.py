"""Functions are named by what they do: a verb first, and never a lone participle."""
# ruff: noqa: SIM905 (words are read best as words)

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = (
    "accounts",
    "client/checkrail",
    "common",
    "config",
    "console",
    "demo",
    "gateway",
    "guidance",
    "ledger",
    "loop",
    "notifications",
    "reviews",
    "safetext",
    "webhooks",
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
IRREGULAR = frozenset(
    """
    begun bound broken built chosen done drawn found given gone held hidden kept
    known laid left lost made meant met paid said seen sent shown spent stood taken
    thought told won written
    """.split()
)
# Words that end like a participle and are verbs or nouns.
NO_PARTICIPLES = frozenset("embed exceed feed need proceed seed speed".split())
VERBS = frozenset(
    """
    abandon abort accept acknowledge act activate add admit adopt allow allows amend announce
    answer append apply approve ask assign attempt attend await begin bind blank
    block bound build call cancel carry catch change check choose claim clean clear
    close collect combine comment commit compare compile compress compute confirm connect
    continue convert copy count create cut decide declare decode delegate delete deliver
    deny derive describe disable discard disconnect dismiss dispatch display divide draft
    draw drive drop dump emit enable encode end ensure enter escape evaluate evict
    examine exclude execute expand expect expire explain fail fan feed fill filter
    find finish fit flatten flush fold follow forget format gather get give go grant
    govern group guard halt hand handle hash hide hold humanize inflate insert inspect install
    interpret invite issue iterate join judge keep latch learn lease leave limit list
    listen load locate lock look lower make mark mask match measure mend merge move
    needs normalise normalize note notify nudge obey observe offer open pack pair
    parse pass pay peek perform permit pick plan poll pop post prepare preview print propose
    protect publish push put queue quote raise rank read rebuild receive recheck
    recommend record recover redact redeem redirect refresh refuse register release
    reload remember remove render renew reopen repair repeat replace replay reply report
    represent request requeue require resend resolve resume retry return revoke rotate round
    route rule run save say scan score seal search select send sense serialize serve
    set settle shorten show sign skip sleep snooze soften sort spawn spend split start stop
    store straighten stream strip submit subtract sum switch take tell test tick
    trim trust try undo uninstall unite unpack unquote unwrap update use validate verify
    wait wake walk warm warn watch widen wipe withdraw wrap write
    """.split()
)
# These are nouns as well: a verb only with an object behind it.
NOUNS_TOO = frozenset(
    """
    fingerprint index label link name order place price query
    """.split()
)
QUESTIONS = frozenset("is has have are was can may must should".split())
# As Python and its libraries name what makes one thing of another, and event handlers.
CONVERSIONS = frozenset("to from with without on".split())
# What Django, ninja, asyncio, argparse, http.server and LangChain call by these names.
HOOKS = frozenset(
    """
    ready main error connection_made connection_lost data_received as_sqlite
    timeout_keep_alive_handler
    operation_details do_POST log_message deconstruct
    awrap_model_call after_model aafter_model awrap_tool_call
    """.split()
)
# Readers whose private methods are named after the part of a text that they read.
READERS = ("guidance/core/secrets/", "guidance/core/shell_commands/")
# Public names of the client package: an author reads `desk.reviews()`, `rail.sent()`.
PUBLIC_CLIENT_NAMES = (
    "integrations/openai_seams.py:GovernedAgent.handoffs",
    "integrations/openai_seams.py:guarded",
    "people.py:Desk.halts",
    "people.py:Desk.ledger",
    "people.py:Desk.review",
    "people.py:Desk.reviews",
    "people.py:Desk.runs",
    "people.py:Desk.tail",
    "testing/rail.py:FakeRail.clock",
    "testing/rail.py:FakeRail.sent",
    "testing/rail.py:FakeRail.trouble",
    "testing/rail.py:fake_checkrail",
    "testing/rail.py:sent",
    "testing/scripts.py:nobody",
)
# Where another name is the plain one; each with its reason.
EXCEPTIONS = {
    **{
        f"guidance/core/settings.py:{name}": "makes a field, as `field` itself does"
        for name in (
            *("whole", "number", "share", "money", "flag", "choice"),
            *("texts", "words_among", "part"),
        )
    },
    **{
        f"client/checkrail/{name}": "a public name of the client"
        for name in PUBLIC_CLIENT_NAMES
    },
    "common/ids.py:uuid7": "named by the standard, as in later versions of Python",
    "config/health/tasks.py:heartbeat": "the name under which beat sends the task",
    "config/server/static_files.py:HashedNames.url": "what Django calls of a storage",
    "guidance/core/regex.py:BytePattern.finditer": "the method of `re` that it stands for",
}


def is_lone_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word:
        return False
    return word in IRREGULAR or (word.endswith("ed") and word not in NO_PARTICIPLES)


def get_returns(function: Function) -> str:
    return ast.unparse(function.returns) if function.returns else ""


def begins_with_verb(function: Function) -> bool:
    first, _, rest = function.name.strip("_").partition("_")
    if first in NOUNS_TOO:
        return bool(rest)
    # `covers`, `allows`: a question that is answered by yes or no.
    if get_returns(function).startswith("bool") and first.endswith("s"):
        return True
    words = {first}
    if isinstance(function, ast.AsyncFunctionDef):
        # `astream_events` beside `stream_events`, as asynchronous twins are named.
        words.add(first.removeprefix("a"))
    return bool(words & (VERBS | QUESTIONS | CONVERSIONS))


def is_read_like_field(function: Function) -> bool:
    decorators = {ast.unparse(each) for each in function.decorator_list}
    return bool(decorators & {"property", "cached_property"})


def is_named_elsewhere(function: Function) -> bool:
    """Whether a framework calls it by this name, or a page, a tag or a URL has it."""
    decorators = {
        ast.unparse(each).partition("(")[0] for each in function.decorator_list
    }
    takes = [argument.arg for argument in function.args.args[:1]]
    page = takes == ["request"] and get_returns(function) == "HttpResponse"
    # A flow of the client is named like the public method that is made of it.
    flow = get_returns(function).startswith("Flow[") and function.name[0] != "_"
    dunder = function.name.startswith("__")
    tag = any(name.startswith("register.") for name in decorators)
    named = function.name in HOOKS or "overload" in decorators
    return dunder or tag or page or flow or named


def list_functions(source: str) -> Iterator[tuple[str, Function]]:
    """Functions of the module, and methods of its classes."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, Function)]
            for each in methods:
                yield f"{node.name}.{each.name}", each


def list_nouns(source: str) -> Iterator[str]:
    """The functions whose first word is no verb."""
    for name, function in list_functions(source):
        if not (
            is_read_like_field(function)
            or is_named_elsewhere(function)
            or begins_with_verb(function)
        ):
            yield name


def is_part_of_reader(name: str) -> bool:
    return name.startswith(READERS) and "._" in name


def list_participles(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        # A property is read like a field, for which an adjective is right.
        if not is_read_like_field(node) and is_lone_participle(node.name):
            yield node.name


def list_files(app: str) -> list[Path]:
    found = (ROOT / app).rglob("*.py")
    return sorted(path for path in found if "migrations" not in path.parts)


@cache
def find_in_app(app: str, find: Callable[[str], Iterator[str]]) -> set[str]:
    return {
        f"{path.relative_to(ROOT)}:{name}"
        for path in list_files(app)
        for name in find(path.read_text())
    }


def test_a_lone_participle_is_noticed() -> None:
    source = "def _judged(): ...\nasync def told(): ...\ndef judge_call(): ..."
    assert list(list_participles(source)) == ["_judged", "told"]


def test_a_function_without_a_verb_is_noticed() -> None:
    source = """
def get_run(code): ...
def covers(call) -> bool: ...
def _name(): ...
def name_rules(): ...
def queue(request) -> HttpResponse: ...
async def astream_events(): ...
async def astep(): ...
def step(run) -> Flow[Decision]: ...
def _step(run) -> Flow[Decision]: ...
class Work:
    def outcome(self): ...
    def _turn(self): ...
    def _take_turn(self): ...
    @property
    def size(self): ...
"""
    assert list(list_nouns(source)) == [
        "_name",
        "astep",
        "_step",
        "Work.outcome",
        "Work._turn",
    ]


@pytest.mark.parametrize("app", APPS)
def test_no_function_is_named_by_a_lone_participle(app: str) -> None:
    assert find_in_app(app, list_participles) - EXCEPTIONS.keys() == set()


@pytest.mark.parametrize("app", APPS)
def test_every_function_begins_with_a_verb(app: str) -> None:
    found = find_in_app(app, list_nouns) - EXCEPTIONS.keys()
    assert {name for name in found if not is_part_of_reader(name)} == set()


def test_every_exception_is_still_needed() -> None:
    named = {
        name
        for app in APPS
        for find in (list_participles, list_nouns)
        for name in find_in_app(app, find)
    }
    assert EXCEPTIONS.keys() - named == set()
