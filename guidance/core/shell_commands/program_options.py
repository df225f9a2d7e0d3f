"""Reading the options of a program that runs something."""

from __future__ import annotations

from collections.abc import Collection

_LONGEST_BUNDLE = 16


def find_operands(
    argv: list[str], *, taking: Collection[str] = (), start: int = 1
) -> list[int]:
    """Places of the words that are no options, `--` and values of options left out."""
    found: list[int] = []
    index, count = start, len(argv)
    while index < count:
        word = argv[index]
        if word[:1] != "-" or word == "-":
            found.append(index)
        elif word == "--":
            found += range(index + 1, count)
            break
        elif takes_next(word, taking):
            index += 1
        index += 1
    return found


def takes_next(word: str, taking: Collection[str]) -> bool:
    """Is the next word the value of this option, alone or at the end of a bundle?"""
    if word in taking:
        return True
    if word[1:2] == "-" or "=" in word:
        return False
    for place in range(1, min(len(word), _LONGEST_BUNDLE)):
        if f"-{word[place]}" in taking:
            # What follows the letter in the same word would be its value.
            return place == len(word) - 1
    return False


def find_option_value(argv: list[str], *flags: str) -> int:
    """The place of an option's value, 0 if the option is not given.

    A short one may be attached to it or stand at the end of a bundle: then the value is the
    next word, or the place of the word that holds both.
    """
    for index in range(1, len(argv)):
        word = argv[index]
        if word == "--":
            return 0
        if word in flags:
            return index + 1 if index + 1 < len(argv) else 0
        for flag in flags:
            if len(flag) == 2 and word[:1] == "-" and word[1:2] not in ("-", ""):
                if word.endswith(flag[1]) and word[1:].isalnum():
                    return index + 1 if index + 1 < len(argv) else 0
            elif word.startswith(flag + "="):
                return index
    return 0


def read_attached_value(word: str, *flags: str) -> str | None:
    """The value in `--flag=value` or `-fvalue`."""
    for flag in flags:
        if flag.startswith("--") and word.startswith(flag + "="):
            return word[len(flag) + 1 :]
        if len(flag) == 2 and word.startswith(flag) and len(word) > 2:
            return word[2:]
    return None
