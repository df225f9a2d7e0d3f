"""Brace expansion: `{a,b}` becomes two words before anything else happens."""

from __future__ import annotations

import re

from guidance.core.shell_commands.limits import (
    MAX_BRACES,
    ReadingBudget,
    TooMuchError,
)
from guidance.core.shell_commands.shell.tree import Word

_GROUP = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")


def expand_braces(words: list[str], budget: ReadingBudget) -> list[str | Word]:
    """The words with their innermost groups written out."""
    done: list[str | Word] = []
    for word in words:
        if "{" in word and "," in word:
            several = _expand_word(word, budget)
            budget.count_step(len(several))
            done += several
        else:
            done.append(word)
    return done


def _expand_word(word: str, budget: ReadingBudget) -> list[str]:
    todo, done = [word], []
    while todo:
        word = todo.pop()
        match = _GROUP.search(word)
        if match is None:
            done.append(word)
            continue
        head, tail = word[: match.start()], word[match.end() :]
        choices = match[1].split(",")
        if len(todo) + len(done) + len(choices) > MAX_BRACES:
            raise TooMuchError(f"more than {MAX_BRACES:,} words of one with braces")
        budget.read((len(head) + len(tail)) * len(choices))
        todo += [head + choice + tail for choice in reversed(choices)]
    return done
