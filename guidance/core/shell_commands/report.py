"""Findings and parts as they are gathered, each with its place in the command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.findings import CommandFinding, Part, Span, Token
from guidance.core.shell_commands.limits import (
    MAX_FINDINGS,
    MAX_PARTS,
    MAX_TOKENS,
    EnoughError,
    ReadingBudget,
    TooMuchError,
)
from guidance.core.shell_commands.messages.at_stake import describe_stake, describe_text
from guidance.core.shell_commands.origin import Marks, Origin
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.shell.tree import UNKNOWN, Script, Simple
from guidance.core.shell_commands.word_lists import split_names
from guidance.core.shell_commands.word_positions import (
    MOST_PLACED,
    build_word_marks,
    place_words,
)

# Names that make broken text worth a look. Not all that have rules: some of those are
# common words, and a person's prose with an apostrophe in it is no command.
_TELLING = split_names(
    "rm dd shred mkfs unlink rmdir find xargs git sudo kubectl helm terraform docker "
    "podman aws gcloud psql mysql sqlite redis-cli mongo mongosh dropdb eval curl wget "
    "bash sh zsh python node perl ruby chmod chown crontab shutdown reboot del "
    "remove-item powershell cmd"
)
# A text of which all words are placed, however often it is read.
_SHORT = MOST_PLACED // 4
# Everything but letters and dashes becomes a blank, and the rest is words.
_BLANKED = bytes(
    byte if chr(byte) in "abcdefghijklmnopqrstuvwxyz-" else ord(" ")
    for byte in range(256)
)


class Report:
    def __init__(self, text: str, *, collect: bool = False) -> None:
        self.text = text
        self._found: dict[tuple[str, Span], CommandFinding] = {}
        self._broken = False
        # A part of a broken text was not even read.
        self._unread = False
        self._troubled: set[str] = set()
        self._calls: list[ProgramCall] | None = [] if collect else None
        self._met: dict[str, ProgramCall | set[Span]] = {}
        self._tokens = 0
        self._placed: dict[Simple, list[Span]] = {}
        self._placing = ReadingBudget(steps=MOST_PLACED)

    @property
    def findings(self) -> tuple[CommandFinding, ...]:
        """In the order of the text."""
        return tuple(sorted(self._found.values(), key=lambda found: found.span))

    @property
    def collects(self) -> bool:
        """Every part is wanted, not only those that matter."""
        return self._calls is not None

    @property
    def programs(self) -> list[Program]:
        """In the order they are met."""
        return [
            Program(call.name, call.argv, self.text, partial(self.get_span, call))
            for call in self._calls or ()
        ]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The same, each with the places of its words."""
        return tuple(map(self._build_part, self._calls or ()))

    def add(self, rule: str, call: ProgramCall) -> None:
        named = call
        if rule.startswith("windows"):
            # Its paths hold backslashes, which a shell here would take away.
            named = call.replace_arguments(self.get_raw_words(call))
        stake = describe_stake(rule, named)
        self.add_at(rule, self.get_span(call), via=call.via, stake=stake)

    def add_whole(
        self, rule: str, call: ProgramCall, *, uninspectable: bool = False
    ) -> None:
        """A finding on the command together with its redirections."""
        span = call.script.origin.get_span(*_trim(call))
        stake = describe_stake(rule, call)
        self.add_at(rule, span, via=call.via, uninspectable=uninspectable, stake=stake)

    def add_opaque(self, rule: str, call: ProgramCall) -> None:
        self.add_at(rule, self.get_span(call), via=call.via, uninspectable=True)

    def add_sql(self, rule: str, span: Span, via: tuple[str, ...]) -> None:
        opaque = rule.startswith("opaque")
        self.add_at(rule, span, via=via, uninspectable=opaque)

    def add_at(
        self,
        name: str,
        span: Span,
        *,
        via: tuple[str, ...] = (),
        uninspectable: bool = False,
        stake: tuple[str, str] = ("", ""),
    ) -> None:
        """`stake` is what the call would do, and to what, where that is known."""
        if (name, span) in self._found:
            return
        if len(self._found) >= MAX_FINDINGS:
            if self.collects:
                return
            raise EnoughError
        self._store(name, span, via, uninspectable=uninspectable, stake=stake)

    def add_too_much(self) -> None:
        """What stands so far is not all: that is told even where enough was found."""
        self._store("opaque-size", (0, len(self.text)), (), uninspectable=True)

    def _store(
        self,
        name: str,
        span: Span,
        via: tuple[str, ...],
        *,
        uninspectable: bool,
        stake: tuple[str, str] = ("", ""),
    ) -> None:
        rule = RULES[name]
        text = self.text[slice(*span)]
        message, target = stake if stake[0] else describe_text(name, text)
        through = f" (through {', '.join(via)})" if via else ""
        self._found[name, span] = CommandFinding(
            rule=name,
            message=(message or rule.message) + through,
            why=rule.why,
            safer=rule.advice,
            span=span,
            text=text,
            target=target,
            family=rule.family,
            severity=rule.severity,
            decision=rule.decision,
            uninspectable=uninspectable,
        )

    def add_trouble(self, script: Script) -> None:
        """Text that is not well-formed matters only if it names something that does."""
        self._broken = True
        self._unread = self._unread or script.unread
        if script.text in self._troubled:
            # Substitutions share the text that they stand in.
            return
        self._troubled.add(script.text)
        text = script.text.lower().encode("utf-8", "replace").translate(_BLANKED)
        if not _TELLING.isdisjoint(text.decode("ascii").split()):
            span = script.origin.get_span(0, len(script.text))
            self.add_at("opaque-syntax", span, uninspectable=True)

    def forget_syntax(self) -> None:
        """Another shell's text, of which every word was looked at all the same."""
        if not self._unread:
            self._found = {
                key: found
                for key, found in self._found.items()
                if found.rule != "opaque-syntax"
            }

    def forget_broken(self) -> None:
        """A text that no shell would accept turned out to be something else."""
        if self._broken:
            self._found = {
                key: found
                for key, found in self._found.items()
                if not found.uninspectable
            }

    def get_span(self, call: ProgramCall, *, index: int = 0) -> Span:
        """The command's place, from one of its words on."""
        return call.script.origin.get_span(*self._find_in_script(call, index))

    def make_whole_origin(self, call: ProgramCall, *, index: int = 0) -> Origin:
        """For a text that comes from the call, from one of its words on."""
        return Origin(
            place=lambda: self._find_in_script(call, index), outer=call.script.origin
        )

    def make_origin(self, call: ProgramCall, index: int) -> Origin:
        """The place of one argument's text, letter by letter where that is possible."""
        return Origin(
            place=lambda: (
                self._find_argument(call, index) or self._find_in_script(call, index)
            ),
            outer=call.script.origin,
            marks=lambda: self._build_marks(call, index),
        )

    def _find_in_script(self, call: ProgramCall, index: int) -> Span:
        spans = self._find_spans(call)
        if index < len(spans):
            return spans[index][0], spans[-1][1]
        return _trim(call)

    def _find_argument(self, call: ProgramCall, index: int) -> Span | None:
        """Where one word stands, unless something was put into it."""
        spans = self._find_spans(call)
        if index >= len(spans):
            return None
        word = call.simple.words[call.first + index]
        return (
            None if isinstance(word, str) and word != call.argv[index] else spans[index]
        )

    def _build_marks(self, call: ProgramCall, index: int) -> Marks:
        span = self._find_argument(call, index)
        if span is None:
            return ()
        return build_word_marks(call.script.text, *span, length=len(call.argv[index]))

    def get_raw_words(self, call: ProgramCall) -> list[str]:
        """The words as they were typed: Windows paths hold backslashes."""
        spans = self._find_spans(call)
        if len(spans) != len(call.argv):
            if self._placing.spent:
                raise TooMuchError("more words than are placed")
            return call.argv
        return [call.script.text[slice(*span)].strip("'\"") for span in spans]

    def _find_spans(self, call: ProgramCall) -> list[Span]:
        """Where the words of the call stand in its script, if they stand there."""
        if call.first < 0:
            return []
        words = self._find_words(call.script, call.simple)
        return words[call.first : call.first + len(call.argv)]

    def _find_words(self, script: Script, simple: Simple) -> list[Span]:
        """Worked out once, however often wrappers in wrappers ask."""
        if simple not in self._placed:
            self._placed[simple] = place_words(script, simple, self._placing)
        return self._placed[simple]

    def add_part(self, call: ProgramCall) -> None:
        calls = self._calls
        if calls is None:
            return
        self._tokens += len(call.argv)
        if self._tokens > MAX_TOKENS or len(calls) >= MAX_PARTS:
            raise EnoughError
        if len(self.text) > _SHORT:
            # In this order, for not all words of a long command may be placed.
            self.get_span(call)
        if not self._has_met(call):
            calls.append(call)

    def _has_met(self, call: ProgramCall) -> bool:
        """Read by two shells, and the same to both. Where most of them stand is never
        asked: only those of one name can be the same."""
        met = self._met.get(call.name)
        if met is None:
            self._met[call.name] = call
            return False
        if isinstance(met, ProgramCall):
            met = self._met[call.name] = {self.get_span(met)}
        span = self.get_span(call)
        known = span in met
        met.add(span)
        return known

    def _build_part(self, call: ProgramCall) -> Part:
        span = self.get_span(call)
        outside = [
            call.script.origin.get_span(*each) for each in self._find_spans(call)
        ]
        if len(outside) != len(call.argv):
            outside = [span] * len(call.argv)
        tokens = tuple(
            Token(
                text=text.replace(UNKNOWN, "…"), span=each, unresolved=UNKNOWN in text
            )
            for text, each in zip(call.argv, outside, strict=True)
        )
        return Part(
            name=call.name.replace(UNKNOWN, "…"),
            text=self.text[slice(*span)],
            span=span,
            tokens=tokens,
            via=call.via,
        )


class Program:
    """A simple command of a text. Its words and its place are worked out when somebody
    asks: of most commands only the name is looked at (bench: tool calls)."""

    __slots__ = ("_argv", "_place", "_text", "name")

    def __init__(
        self, name: str, argv: list[str], text: str, place: Span | Callable[[], Span]
    ) -> None:
        self.name = name.replace(UNKNOWN, "…")
        self._argv = argv
        self._text = text
        self._place = place

    @property
    def words(self) -> list[str]:
        """As the program would get them, its own name first."""
        return [text.replace(UNKNOWN, "…") for text in self._argv]

    @property
    def span(self) -> Span:
        place = self._place
        if not isinstance(place, tuple):
            place = self._place = place()
        return place

    @property
    def text(self) -> str:
        return self._text[slice(*self.span)]


def _trim(call: ProgramCall) -> Span:
    """Where the command stands, without the blanks around it."""
    start, end = call.simple.start, call.simple.end
    text = call.script.text[start:end]
    start += len(text) - len(text.lstrip())
    return start, max(start, end - len(text) + len(text.rstrip()))
