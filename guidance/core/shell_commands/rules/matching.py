"""Patterns compiled from the rules, and matched with an invocation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.rule import Rule

Question = Callable[[Invocation], bool]


@dataclass(frozen=True, slots=True)
class Pattern:
    rule: Rule
    programs: tuple[str, ...]
    verbs: tuple[tuple[str, ...], ...]
    flags: tuple[tuple[str, ...], ...]
    unless_flags: tuple[str, ...]
    unless_words: frozenset[str]
    questions: tuple[Question, ...]

    def matches(self, found: Invocation) -> bool:
        if self.flags and not found.flags:
            return False
        if self.verbs and not (
            self._match_words(found.operands)
            # Mostly the same words, read once (bench: "a script").
            or (found.sure != found.operands and self._match_words(found.sure))
        ):
            return False
        for group in self.flags:
            if not found.has_any(group):
                return False
        if not self.verbs and not self.unless_words.isdisjoint(found.operands):
            return False
        for question in self.questions:
            if not question(found):
                return False
        return not found.flags or not any(map(found.is_meant, self.unless_flags))

    def _match_words(self, operands: list[str]) -> bool:
        """What follows the verb is a name, even where it is a word such as `list`."""
        end = _find_verbs_end(self.verbs, operands)
        return end is not None and self.unless_words.isdisjoint(operands[:end])


class Program:
    """The patterns of one program, by their first verb where they have one."""

    __slots__ = ("_always", "_led", "_needed")

    def __init__(self) -> None:
        self._always: list[Pattern] = []
        self._led: dict[str, list[Pattern]] = {}
        # One of these words stands in every command that a pattern matches; None if
        # there is a pattern that needs no word.
        self._needed: set[str] | None = set()

    def add(self, pattern: Pattern) -> None:
        first = pattern.verbs[0] if pattern.verbs else ()
        last = pattern.verbs[-1] if pattern.verbs else ("*",)
        if any("*" in verb for verb in last):
            self._needed = None
        elif self._needed is not None:
            self._needed.update(last)
        if not first or any("*" in verb for verb in first):
            self._always.append(pattern)
            return
        for verb in first:
            self._led.setdefault(verb, []).append(pattern)

    @property
    def is_led(self) -> bool:
        """Are there verbs, of which the tables may not know all?"""
        return bool(self._led) or any(pattern.verbs for pattern in self._always)

    def add_words(self, words: Iterable[str]) -> None:
        """Words that are worth a look, whatever the patterns say."""
        if self._needed is not None:
            self._needed.update(words)

    @property
    def needed(self) -> frozenset[str] | None:
        """The words without which nothing matches; None if there are none such."""
        return None if self._needed is None else frozenset(self._needed)

    def concerns(self, argv: list[str]) -> bool:
        """Quickly: could any pattern match? Most uses of most programs are harmless."""
        if self._needed is None or not self._needed.isdisjoint(argv):
            return True
        text = "\0".join(argv)
        if text.islower():
            return False
        return not self._needed.isdisjoint(text.lower().split("\0"))

    def match(self, found: Invocation) -> Pattern | None:
        """The first pattern that matches."""
        for pattern in self._always:
            if pattern.matches(found):
                return pattern
        if not self._led:
            return None
        # Most often one word, tried once (bench: "a script").
        for word in dict.fromkeys((*found.operands[:1], *found.sure[:1])):
            for pattern in self._led.get(word.lower(), ()):
                if pattern.matches(found):
                    return pattern
        return None


def compile_patterns(
    rules: Iterable[Rule], questions: dict[str, Question]
) -> dict[str, Program]:
    index: dict[str, Program] = {}
    for rule in rules:
        for line in rule.patterns:
            pattern = _compile(rule, line, questions)
            for name in pattern.programs:
                index.setdefault(name, Program()).add(pattern)
    return index


def _compile(rule: Rule, line: str, questions: dict[str, Question]) -> Pattern:
    programs, *words = line.split()
    verbs: list[tuple[str, ...]] = []
    flags: list[tuple[str, ...]] = []
    unless_flags: list[str] = []
    unless_words: list[str] = []
    asked: list[Question] = []
    for word in words:
        if word.startswith("@"):
            asked.append(questions[word[1:]])
        elif word.startswith("!"):
            for each in word[1:].split("|"):
                (unless_flags if _is_flag(each) else unless_words).append(each)
        elif _is_flag(word.partition("|")[0]):
            flags.append(tuple(word.split("|")))
        else:
            verbs.append(tuple(word.split("|")))
    return Pattern(
        rule,
        tuple(programs.split("|")),
        tuple(verbs),
        tuple(flags),
        tuple(unless_flags),
        frozenset(unless_words),
        tuple(asked),
    )


def _is_flag(word: str) -> bool:
    """-x, --long, and /x of Windows, but not a path."""
    return word[0] == "-" or (word[0] == "/" and word.count("/") == 1)


def _find_verbs_end(
    verbs: tuple[tuple[str, ...], ...], operands: list[str]
) -> int | None:
    """How many operands it takes to find the verbs in their order, None if they differ."""
    place = 0
    anywhere = False
    for choices in verbs:
        if choices == ("**",):
            anywhere = True
            continue
        limit = len(operands) if anywhere else place + 1
        while place < limit and place < len(operands):
            if _match_one(choices, operands[place]):
                break
            place += 1
        else:
            return None
        place += 1
        anywhere = False
    return place


def _match_one(choices: tuple[str, ...], operand: str) -> bool:
    operand = operand.lower()
    if operand in choices:
        return True
    for choice in choices:
        if "*" in choice:
            head, _, tail = choice.partition("*")
            if operand.startswith(head) and operand.endswith(tail) and operand:
                return True
    return False
