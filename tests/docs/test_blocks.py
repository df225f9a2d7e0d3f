"""Every fenced block of the pages is run, checked against the code, or named as neither."""

from __future__ import annotations

import ast
import json
import re
import shlex
from argparse import ArgumentParser
from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

import pytest
from django.core.management import get_commands, load_command_class

from config.api import api
from guidance.validation import check_yaml
from tests.docs.markdown import ROOT, read_page

pytestmark = pytest.mark.once("looks at pages")

PAGES = (
    *("README.md", "examples/README.md", "client/README.md"),
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
)
# Pages of which a test runs every block of this language, as it stands.
RUN = {
    ("README.md", "python"): "tests/docs/test_readme.py",
    ("README.md", "sh"): "tests/docs/test_readme.py",
    ("examples/README.md", "sh"): "tests/docs/test_readme.py",
    ("client/README.md", "python"): "tests/client/test_readme.py",
    ("docs/ledger.md", "python"): "tests/docs/test_ledger_page.py",
    ("docs/tools.md", "python"): "tests/docs/test_tools_page.py",
    ("docs/webhooks.md", "python"): "tests/webhooks/test_docs.py",
}
# By how it begins, and why it is not run. All but texts are still read: see below.
NOT_RUN = {
    "agent ── POST step": "a drawing",
    "sense ──▶": "a drawing",
    "retry: 2000": "what a stream answers",
    "GATE_REVIEW: PASS|FAIL": "forms of an answer, held by test_gates_page",
    "delete-folder   asked": "what a policy's page shows",
    "# HAProxy": "settings of other programs, which are not installed here",
    "const canonical": "JavaScript for another program",
    "const source": "JavaScript for a browser",
}
# What is called by a name of its own, and is no part of this project.
FOREIGN = {
    *("openapi-python-client", "npx", "claude", "curl", "sqlite3", "uvicorn", "celery"),
    *("pip", "export", "checkrail"),
}


class Block(NamedTuple):
    page: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.text.strip().splitlines()[0]}"


def list_blocks() -> Iterator[Block]:
    for page in PAGES:
        for _, language, text in re.findall(
            r"^( *)```(\w*)\n(.*?)^\1```$", read_page(page), re.M | re.S
        ):
            yield Block(page, language, text)


BLOCKS = [*list_blocks()]


def test_every_block_is_known() -> None:
    """A block of another kind needs a test that runs it, or a reason."""
    assert len(BLOCKS) >= 100
    unknown = [
        str(block)
        for block in BLOCKS
        if block.language not in READERS
        and not any(block.text.startswith(start) for start in NOT_RUN)
        and not block.text.startswith(("manage.py ", "checkrail "))
    ]
    assert unknown == []
    starts = [
        each for each in NOT_RUN if not any(b.text.startswith(each) for b in BLOCKS)
    ]
    assert starts == [], "no block begins like that any more"
    for (page, language), test in RUN.items():
        assert any((page, language) == block[:2] for block in BLOCKS)
        assert page.rpartition("/")[2] in (ROOT / test).read_text(), test


def read_yaml(block: Block) -> None:
    """All YAML of the pages is a policy, or a part of one."""
    faults = check_yaml(block.text).faults
    if faults and block.page == "docs/policy.md":
        faults = check_yaml(f"reviews: {{{block.text.strip()}}}").faults
    assert not faults, faults


def read_json(block: Block) -> None:
    """Whole, but for what `…` leaves out."""
    text = block.text if block.text.startswith(("{", "[")) else f"{{{block.text}}}"
    json.loads(text.replace("{…}", "{}"))


def read_request(block: Block) -> None:
    """The operation is served, and its body is JSON."""
    line, *body = block.text.split("\n", 1)
    method, path = line.split()
    if body and body[0].strip() and "\n\n" not in block.text:
        json.loads(body[0])
    if path == "/checkrail":
        return  # what Checkrail itself sends
    asked = re.sub(r"\{\w+\}", "_", path.partition("?")[0])
    served = [
        (verb.upper(), re.sub(r"\{\w+\}", "[^/]+", known.removeprefix("/api/v1")))
        for known, verbs in api.get_openapi_schema()["paths"].items()
        for verb in verbs
    ]
    assert any(verb == method and re.fullmatch(at, asked) for verb, at in served), line


def read_python(block: Block) -> None:
    """It can be compiled, and what it imports of ours is there."""
    tree = compile(
        block.text,
        block.page,
        "exec",
        ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = __import__(node.module, fromlist=["_"])
            missing = [n.name for n in node.names if not hasattr(module, n.name)]
            assert missing == [], missing


def read_shell(block: Block) -> None:
    """Each command exists with its options: of `make`, `manage.py` and our own modules."""
    text = block.text.replace("\\\n", " ")
    for line in text.splitlines():
        for words in split_commands(line):
            read_command(words)


def split_commands(line: str) -> Iterator[list[str]]:
    """The words of each command, without what is set before it."""
    for part in re.split(r"&&|\||\$\(", line.partition(" #")[0]):
        try:
            words = shlex.split(part.strip().rstrip(")&"))
        except ValueError:
            continue  # a command that goes on elsewhere: README's, which are run
        while words and re.match(r"\w+=", words[0]):
            words = words[1:]
        if words and not words[0].startswith("#"):
            yield words


def read_command(words: list[str]) -> None:
    program = words[0].rpartition("/")[2]
    if program == "make":
        verb = next((each for each in words[1:] if "=" not in each), "help")
        assert f"\n{verb}:" in read_page("Makefile"), words
    elif program == "python" and words[1] == "-m":
        assert find_spec(words[2]), words
        if "python" in "".join(words[3:]):
            read_command(words[3:])
    elif program == "python" and words[1].endswith(".py"):
        read_command(words[1:]) if words[1] == "manage.py" else None
    elif program == "manage.py":
        name = words[1]
        command = load_command_class(get_commands()[name], name)
        known = {*list_options(command.create_parser("manage.py", name))}
        given = {each.partition("=")[0] for each in words[2:] if each.startswith("--")}
        assert given <= known, given - known
    elif program == "pytest":
        path, _, test = words[1].partition("::")
        assert f"\ndef {test}" in read_page(path), words
    else:
        assert program in FOREIGN, words


def list_options(parser: ArgumentParser) -> Iterator[str]:
    """Of a command, and of what it is followed by."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action.choices, dict):
            for each in action.choices.values():
                yield from list_options(each)


READERS = {
    "yaml": read_yaml,
    "json": read_json,
    "http": read_request,
    "python": read_python,
    "sh": read_shell,
}


@pytest.mark.parametrize("language", READERS)
def test_what_is_not_run_is_held_against_the_code(language: str) -> None:
    failed = []
    for block in BLOCKS:
        run = (block.page, block.language) in RUN
        if block.language == language and not run and not is_named(block):
            try:
                READERS[language](block)
            except Exception as error:
                failed.append(f"{block}: {error!r}")
    assert failed == []


def is_named(block: Block) -> bool:
    return any(block.text.startswith(start) for start in NOT_RUN)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("yaml", "tools: {no_such: 1}"),
        ("json", '{"a": }'),
        ("http", "POST /nothing\n{}"),
        ("http", 'POST /runs\n{"task" 1}'),
        ("python", "from checkrail import NoSuchThing"),
        ("sh", "make nothing"),
        ("sh", "python manage.py user_add alice --no-such-option"),
        ("sh", "python -m bench.no_such_module"),
        ("sh", "rm -rf build"),
    ],
)
def test_what_is_wrong_is_noticed(language: str, text: str) -> None:
    wrong = (AssertionError, ValueError, KeyError)
    with pytest.raises(wrong):
        READERS[language](Block("docs/x.md", language, text))
