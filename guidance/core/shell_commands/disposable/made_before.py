"""Folders that an earlier command of the same script has made: `mkdir x && … && rm -rf x`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from guidance.core.shell_commands.disposable.scratch_names import is_scratch_name
from guidance.core.shell_commands.disposable.whole_script import list_before
from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.paths import is_plain_name
from guidance.core.shell_commands.shell.tree import Script, Simple
from guidance.core.shell_commands.word_lists import split_names

_OUTPUT_OPTIONS = split_names(
    "--out --out-dir --outdir --output --output-dir --output_dir --output-path --outputDir "
    "--logdir --log-dir --save-dir --run-dir --work-dir --results-dir --report-dir --destdir"
)
_IDLE = split_names("echo printf true : test [ cat ls rm")
_SOURCES = split_names(
    "src lib app source internal cmd pkg server backend frontend docs data assets public "
    "static config migrations tests test scripts . .. ~"
) | {""}
# They refuse where the folder is there already, and its name is their last word.
_STARTING = (
    ("cargo", "new"),
    ("rails", "new"),
    ("django-admin", "startproject"),
    ("git", "worktree", "add"),
    ("dotnet", "new"),
)
_TRIAL = split_names("demo demos example sample trial try spike poc repro smoke probe")


def list_made_before(
    script: Script, simple: Simple, budget: ReadingBudget
) -> frozenset[str]:
    """Those that were not there before, as far as the command itself says."""
    if simple.joined == "||":
        return frozenset()
    items = list_before(script, simple, budget)
    if len(items) not in script.made:
        # Every deletion of a long script asks for it (bench: "commands, 3 lines").
        script.made[len(items)] = _list_made_by(items, script.text)
    return script.made[len(items)]


def _list_made_by(items: Sequence[Simple], text: str) -> frozenset[str]:
    found: set[str] = set()
    entered: list[str] = []
    for item in items:
        words = [word for word in item.words if isinstance(word, str)]
        if not words or words[0] in _IDLE:
            continue
        if words[0] == "cd":
            if text[: item.start].rstrip()[-1:] == "(":
                # In a shell of its own: nobody else goes along.
                continue
            if not _follow(words[-1], entered):
                # Somewhere else: the same name is another folder there.
                return frozenset()
        elif not entered:
            found.update(name.removeprefix("./") for name in _list_made(words))
    if entered:
        return frozenset()
    return frozenset(path for path in found if path.split("/")[0] not in _SOURCES)


def _follow(folder: str, entered: list[str]) -> bool:
    """Into a folder below and back again."""
    if folder in ("..", "-", "../") and entered:
        entered.pop()
        return True
    entered.append(folder)
    return is_plain_name(folder.rstrip("/"))


def _list_made(words: list[str]) -> Iterator[str]:
    for word, following in pairwise((*words, "")):
        option, equals, value = word.partition("=")
        if option in _OUTPUT_OPTIONS or (word == "venv" and "-m" in words):
            yield (value if equals else following).rstrip("/")
    operands = [word.rstrip("/") for word in words[1:] if word[:1] != "-"]
    if words[0] == "mkdir":
        again = any(
            word.startswith("--p") or "p" in _get_bundle(word) for word in words
        )
        yield from (name for name in operands if not again or _is_trial(name))
    elif words[:2] == ["git", "clone"] and len(operands) > 1:
        address, last = operands[-2], operands[-1]
        if "/" in address:
            # Two of them: the address, and the folder it goes to.
            yield last
        elif "://" in last or last.endswith(".git"):
            yield last.rpartition("/")[2].removesuffix(".git")
    elif any(words[: len(each)] == list(each) for each in _STARTING):
        yield operands[-1]


def _get_bundle(word: str) -> str:
    return word if word[:1] == "-" and word[:2] != "--" else ""


def _is_trial(name: str) -> bool:
    """It may have been there before, but its name says that nothing in it is kept."""
    last = name.rpartition("/")[2]
    return is_scratch_name(last) or not _TRIAL.isdisjoint(
        last.lower().replace("_", "-").split("-")
    )
