"""Commands that a policy lists: `git push --force` is met by every force push."""

from __future__ import annotations

from collections.abc import Sequence

from guidance.core.shell_commands import Program, list_programs


def find_listed_command(command: str, listed: Sequence[str]) -> str | None:
    """The first listed command that runs here, also behind sudo or inside bash -c."""
    return find_listed_program(list_programs(command), listed) if listed else None


def find_listed_program(parts: Sequence[Program], listed: Sequence[str]) -> str | None:
    """The same for a command that was read already."""
    for part in parts:
        for entry in listed:
            if _meets(part, entry.split()):
                return entry
    return None


def _meets(part: Program, words: Sequence[str]) -> bool:
    """The entry's words come first and in order, its options stand anywhere."""
    if part.name != words[0]:
        return False
    given = part.words
    options = [word for word in words[1:] if word.startswith("-")]
    operands = [word for word in words[1:] if not word.startswith("-")]
    known = [word for word in given[1:] if not word.startswith("-")]
    return known[: len(operands)] == operands and all(
        any(_is_option(word, option) for word in given[1:]) for option in options
    )


def _is_option(word: str, option: str) -> bool:
    """`-f` also stands in `-xf`, and `--force` also has a value: `--force=yes`."""
    if option.startswith("--"):
        return word == option or word.startswith(f"{option}=")
    letters = option[1:]
    bundle = word[1:] if word.startswith("-") and not word.startswith("--") else ""
    return word == option or (bool(bundle) and all(c in bundle for c in letters))
