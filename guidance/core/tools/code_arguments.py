"""Arguments that an interpreter runs: `python_repl.code`, `execute_javascript.script`.

The tool's name says the language, or an argument beside the code does. A tool that only
handles code as text (search, format, explain) runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidance.core.shell_commands.word_lists import split_names
from guidance.core.tools.destroying.tool_verbs import split_words
from guidance.core.tools.marked_arguments import normalize_name
from guidance.core.tools.texts import Holder, Text, escape_key, list_texts

SHELL, SQL = "shell", "sql"
# Where the code stands, and what it is written in, as `normalize_name` gives them.
_CODE = split_names(
    "code script source sourcecode program snippet expression function pagefunction "
    "cell cells python pythoncode pythonscript javascript javascriptcode js typescript "
    "text input query"
)
_LANGUAGE = split_names("language lang runtime kernel interpreter")
# Words that name a language, in a tool's name or as the argument beside the code.
_WORDS = {
    word: language
    for language, words in {
        "python": "python py ipython jupyter notebook pandas ipykernel",
        "javascript": "javascript js ecmascript node nodejs typescript ts tsx deno bun "
        "puppeteer playwright devtools chrome browser",
        "ruby": "ruby rb irb rails",
        "php": "php",
        "perl": "perl",
        "lua": "lua luajit",
        "r": "rscript rlang",
        SQL: "sql postgres postgresql psql mysql mariadb sqlite duckdb bigquery "
        "snowflake redshift clickhouse mssql tsql plsql",
        SHELL: "shell bash sh zsh",
    }.items()
    for word in words.split()
}
# A browser has many tools; these of them run what they are given.
_BROWSERS = split_names("puppeteer playwright devtools chrome browser")
_RUNS = split_names("run exec execute eval evaluate interpret javascript js script")
# Names of tools that run code without saying in which language.
_INTERPRETERS = split_names("repl interpreter codeinterpreter kernel")
_PROGRAMS = split_names("code snippet program")
_UNSAID = ("python", "javascript")
# What such a tool does to code instead of running it.
_HANDLES_TEXT = split_names(
    "search find grep lookup read get list show view format lint check explain review "
    "analyze analyse parse highlight complete convert translate summarize describe docs "
    "documentation help write save create edit update insert generate index"
)


# Search engines, and what they search instead of a database.
_ENGINES = split_names(
    "web websearch internet google bing brave tavily duckduckgo ddg kagi exa perplexity serp "
    "searxng docs documentation wiki wikipedia"
)
_LOOKS_UP = split_names("search websearch lookup query")


def looks_up_words(tool: str) -> bool:
    """WebSearch, brave_web_search, search_docs."""
    words = set(split_words(tool))
    return (
        not words.isdisjoint(_ENGINES)
        and not words.isdisjoint(_LOOKS_UP)
        and words.isdisjoint(_WORDS)
    )


# Programs that tools are named after, and the arguments that hold their words.
_CLIENTS = split_names(
    "kubectl helm docker podman git aws gcloud gsutil az terraform tofu pulumi gh glab "
    "psql mysql redis heroku fly vercel"
)
_CLIENT_NAMES = {"redis": "redis-cli"}
_GIVEN = split_names("args arguments argv command cmd subcommand commandline")


def list_program_arguments(tool: str, held: Sequence[Holder]) -> Iterator[Text]:
    """`kubectl` with the arguments `delete ns prod`: the command that this comes to."""
    client = next((word for word in split_words(tool) if word in _CLIENTS), None)
    if client is None:
        return
    name = _CLIENT_NAMES.get(client, client)
    for given, key, part in held[0].parts if held else ():
        if given not in _GIVEN:
            continue
        words = [part] if isinstance(part, str) else [*part] if _is_words(part) else []
        text = " ".join(words)
        if text and text.split(maxsplit=1)[0] not in (client, name):
            place = f"{held[0].place}/{escape_key(key)}"
            yield Text(place, f"{name} {text}", joined=True)


def _is_words(part: object) -> bool:
    return isinstance(part, list | tuple) and all(isinstance(w, str) for w in part)


class Code(NamedTuple):
    """A text, and what runs it: `shell`, `sql` or the name of a language."""

    text: Text
    language: str


def split_code(
    tool: str, held: Sequence[Holder]
) -> tuple[Sequence[Code], Sequence[Holder]]:
    """The code of an interpreter, and the arguments without it."""
    named = _find_languages(tool)
    if named is None:
        if _RUNS.isdisjoint(split_words(tool.rpartition("__")[2])):
            return (), held
        # An argument may say it.
        named = ()
    code: list[Code] = []
    rest = []
    for holder in held:
        languages = _find_said_languages(holder) or named
        left = []
        for name, key, part in holder.parts:
            if name in _CODE and languages:
                texts = list_texts(part, f"{holder.place}/{escape_key(key)}")
                code += [Code(text, each) for text in texts for each in languages]
            else:
                left.append((name, key, part))
        rest.append(holder._replace(parts=left))
    return code, rest


def _find_said_languages(holder: Holder) -> tuple[str, ...]:
    """What an argument beside the code says it is written in."""
    for name, _, part in holder.parts:
        if name in _LANGUAGE and isinstance(part, str):
            language = _WORDS.get(normalize_name(part).rstrip("0123456789"))
            if language is not None:
                return (language,)
    return ()


def _find_languages(tool: str) -> tuple[str, ...] | None:
    """The languages that a tool of this name runs; None where it runs no code."""
    words = split_words(tool)
    last = set(split_words(tool.rpartition("__")[2]))
    if not last.isdisjoint(_HANDLES_TEXT):
        return None
    browses = not _BROWSERS.isdisjoint(words)
    if browses and last.isdisjoint(_RUNS):
        return None
    named = dict.fromkeys(_WORDS[word] for word in words if word in _WORDS)
    if SHELL in named:
        # The policy marks what a shell runs; a shell of Python runs Python.
        del named[SHELL]
        return tuple(named) or None
    if named:
        return tuple(named)
    runs = not last.isdisjoint(_RUNS) and not last.isdisjoint(_PROGRAMS)
    if runs or not last.isdisjoint(_INTERPRETERS):
        return _UNSAID
    return None
