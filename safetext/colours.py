"""Syntax colours as a layer of classes: they add to a text and change nothing in it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from pygments.lexer import Lexer
from pygments.lexers import find_lexer_class_by_name
from pygments.token import (
    Comment,
    Keyword,
    Literal,
    Name,
    Operator,
    _TokenType,
    is_token_subtype,
)

from safetext.marks import Layer

# Lexers are regular expressions, some with a cost that grows with the square of the
# text or of a line. So they get little text, no long lines and little of the processor; what they
# have not coloured by then stays plain.
_CHARACTERS = 48 * 1024
_LINE = 1000
_SECONDS = 0.05

_ENDINGS = {
    **dict.fromkeys(("py", "pyi"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "javascript"),
    **dict.fromkeys(("ts", "tsx", "mts", "cts"), "typescript"),
    **dict.fromkeys(("sh", "bash", "zsh", "env"), "bash"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("ini", "cfg", "conf"), "ini"),
    **dict.fromkeys(("html", "htm"), "html"),
    **dict.fromkeys(("xml", "svg"), "xml"),
    **dict.fromkeys(("c", "h"), "c"),
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp"), "cpp"),
    **dict.fromkeys(("kt", "kts"), "kotlin"),
    **dict.fromkeys(("ps1", "psm1"), "powershell"),
    **dict.fromkeys(("tf", "hcl"), "terraform"),
    "cs": "csharp",
    "css": "css",
    "dart": "dart",
    "ex": "elixir",
    "go": "go",
    "graphql": "graphql",
    "java": "java",
    "json": "json",
    "lua": "lua",
    "md": "markdown",
    "mk": "make",
    "php": "php",
    "pl": "perl",
    "proto": "protobuf",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "scala": "scala",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
}
_NAMES = {"dockerfile": "docker", "makefile": "make", "gemfile": "ruby"}
# The first that holds the token's type gives the class.
_CLASSES = (
    (Comment, "hl-comment"),
    (Keyword, "hl-keyword"),
    (Operator.Word, "hl-keyword"),
    (Literal.Number, "hl-number"),
    (Literal.String, "hl-string"),
    (Name.Attribute, "hl-name"),
    (Name.Builtin, "hl-name"),
    (Name.Class, "hl-name"),
    (Name.Decorator, "hl-name"),
    (Name.Function, "hl-name"),
    (Name.Tag, "hl-keyword"),
)


def build_colours(text: str, *, file_name: str) -> Layer:
    """An empty layer for a file of no known kind, and for what is too large."""
    lexer = _get_lexer(PurePosixPath(file_name.lower()))
    if lexer is None or len(text) > _CHARACTERS:
        return Layer(spans=())
    if any(len(line) > _LINE for line in text.split("\n")):
        return Layer(spans=())
    return Layer(spans=[*_merge(_find_spans(lexer, text))])


def _get_lexer(path: PurePosixPath) -> Lexer | None:
    name = _NAMES.get(path.name) or _ENDINGS.get(path.suffix.removeprefix("."))
    return _create_lexer(name) if name else None


@lru_cache
def _create_lexer(name: str) -> Lexer:
    return find_lexer_class_by_name(name)()


def _find_spans(lexer: Lexer, text: str) -> Iterator[tuple[int, int, str]]:
    until = time.thread_time() + _SECONDS
    done = 0
    try:
        for start, kind, value in lexer.get_tokens_unprocessed(text):
            name = _get_class(kind)
            end = start + len(value)
            # Lexers that nest others may look back; a layer runs forwards only.
            if name and done <= start < end <= len(text):
                yield start, end, name
                done = end
            if time.thread_time() > until:
                return
    except Exception:
        # A lexer's own defect must cost the colours and nothing else.
        return


@lru_cache
def _get_class(kind: _TokenType) -> str:
    return next((name for group, name in _CLASSES if is_token_subtype(kind, group)), "")


def _merge(spans: Iterator[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    held: tuple[int, int, str] | None = None
    for start, end, name in spans:
        if held and held[1] == start and held[2] == name:
            held = (held[0], end, name)
            continue
        if held:
            yield held
        held = (start, end, name)
    if held:
        yield held
