"""Follow a script: name, unwrap and judge each simple command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.limits import (
    COST_OF_TEXT,
    MAX_ARGUMENTS,
    MAX_DEPTH,
    ReadingBudget,
    TooMuchError,
)
from guidance.core.shell_commands.origin import Origin, cut_origin
from guidance.core.shell_commands.outputs import (
    find_opaque_reason,
    find_output,
    find_printed,
    find_stdin,
)
from guidance.core.shell_commands.own_server import OwnServer
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.report import Report
from guidance.core.shell_commands.rules import PATTERNS
from guidance.core.shell_commands.rules.unknown import (
    may_run_another,
    names_destroying_verb,
)
from guidance.core.shell_commands.script_state import (
    OPAQUE,
    Content,
    ScriptState,
    Value,
)
from guidance.core.shell_commands.shell.cursor import Matters
from guidance.core.shell_commands.shell.nesting import list_nested_scripts, reads_from
from guidance.core.shell_commands.shell.reader import read_shell
from guidance.core.shell_commands.shell.tree import (
    UNKNOWN,
    Assignment,
    Function,
    Item,
    Script,
    Simple,
)
from guidance.core.shell_commands.sql.databases import ANY_DATABASE, Database
from guidance.core.shell_commands.sql.functions import find_in_functions
from guidance.core.shell_commands.unclear_names import (
    HERE_STRING,
    begins_here_string,
    find_unclear_name,
)

# Arguments that cost nothing to look at.
_MANY = 200
Handler = Callable[["Walk", ProgramCall], None]


class Walk:
    """Everything met on the way through one command."""

    def __init__(
        self,
        report: Report,
        budget: ReadingBudget,
        *,
        handlers: Mapping[str, Handler],
        matters: Matters,
        disposable: frozenset[str],
        server: OwnServer,
        redirected: Callable[[Walk, ProgramCall], None],
        is_run: Callable[[str], bool],
        follow_setting: Callable[[Walk, ProgramCall, Assignment], None],
        judge: Handler,
    ) -> None:
        self.report = report
        self.budget = budget
        self.known = ScriptState(find_output, find_printed, self.budget)
        self._handlers = handlers
        self._matter = matters
        self.disposable = disposable
        self.server = server
        self._redirected = redirected
        self._is_run = is_run
        self.follow_setting = follow_setting
        # Judges a program by its own rules, whatever else was made of it.
        self.judge: Callable[[ProgramCall], None] = lambda call: judge(self, call)
        self._depth = 0
        self._active: list[Item] = []
        # The calls whose text is being read just now, outermost first.
        self._outer: list[ProgramCall] = []
        # Arguments that a shell reads when everything else has run.
        self.later: list[tuple[ProgramCall, int, str]] = []

    def walk_shell(self, text: str, *, origin: Origin, via: tuple[str, ...]) -> Script:
        """A text that a shell would read."""
        self.enter(text)
        defined = self.known.functions or self.known.aliases or self.report.collects
        script = read_shell(
            text,
            origin=origin,
            budget=self.budget,
            depth=self._depth,
            matters=None if defined else self._matter,
        )
        self.walk_script(script, via)
        if script.too_much:
            raise TooMuchError(script.too_much)
        self.leave()
        return script

    def enter(self, text: str) -> None:
        """Into a text that is read by a reader of its own."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooMuchError(f"nested more than {MAX_DEPTH} deep")
        self.budget.count_commands()
        self.budget.read(len(text))

    def leave(self) -> None:
        self._depth -= 1

    def finish(self) -> None:
        """At the end of the whole command."""
        while self.later:
            self.walk_argument(*self.later.pop(0))

    def walk_script(
        self,
        script: Script,
        via: tuple[str, ...],
        *,
        first: int = 0,
        last: int | None = None,
    ) -> None:
        if script.trouble:
            self.report.add_trouble(script)
        items = script.items
        index, end = first, len(items) if last is None else last
        while index < end:
            item = items[index]
            index += 1
            if isinstance(item, Function):
                self.known.functions[item.name] = (script, index, item.last)
                index = max(index, item.last)
            else:
                self._walk_simple(script, item, via)

    def walk_content(self, content: Content, call: ProgramCall, via: str) -> None:
        """Something that was put together elsewhere is run by a shell."""
        if content.opaque:
            rule = OPAQUE.get(content.opaque)
            if rule:
                self.report.add_opaque(rule, call)
            return
        origin = content.origin or self.report.make_whole_origin(call)
        self.walk_shell(content.text, origin=origin, via=(*call.via, via))

    def walk_sql(
        self,
        text: str,
        *,
        origin: Origin,
        via: tuple[str, ...],
        database: Database = ANY_DATABASE,
    ) -> None:
        """A text that a database would run."""
        self.budget.read(len(text))
        self.budget.count_commands(COST_OF_TEXT)
        for rule, start, end in find_in_functions(text):
            self.report.add_sql(rule, origin.get_span(start, end), via)
        for found in database.list_losses(text, self.budget):
            if found.shell:
                place = cut_origin(origin, found.start, found.end)
                self.walk_shell(found.shell, origin=place, via=(*via, "program"))
            else:
                span = origin.get_span(found.start, found.end)
                self.report.add_sql(found.rule, span, via)

    def run_inner(
        self,
        call: ProgramCall,
        index: int,
        via: str,
        *,
        last: int | None = None,
        more: tuple[str, ...] | None = (),
        stdin: Content | None = None,
    ) -> None:
        """The command that begins at a later word."""
        argv = call.argv[index:last]
        if not argv:
            return
        name = resolve_program(argv[0])
        if name not in self._matter and self._is_harmless(name, argv[1:]):
            return
        first = call.first + index if call.first >= 0 else -1
        via_all = (*call.via, via)
        inner = ProgramCall(name, argv, call.script, call.simple, via_all, first)
        inner.more = more if more != () else call.more
        inner.stdin = stdin or call.stdin
        inner.depth = call.depth + 1
        self.run(inner)

    def walk_argument(self, call: ProgramCall, index: int, via: str) -> None:
        """An argument that a shell would read."""
        text = call.argv[index]
        if text.strip(UNKNOWN + " \n\"'") == "" and UNKNOWN in text:
            rule = OPAQUE.get(find_opaque_reason(call.simple), "opaque-script")
            self.report.add_opaque(rule, call)
            return
        self._walk_text(text, self.report.make_origin(call, index), call, via)

    def walk_arguments(self, call: ProgramCall, index: int, via: str) -> None:
        """The rest of the arguments, joined by blanks, as a shell would read them."""
        if index >= len(call.argv):
            return
        if index == len(call.argv) - 1:
            self.walk_argument(call, index, via)
            return
        origin = self.report.make_whole_origin(call, index=index)
        self._walk_text(" ".join(call.argv[index:]), origin, call, via)

    def _walk_text(
        self, text: str, origin: Origin, call: ProgramCall, via: str
    ) -> None:
        self._outer.append(call)
        self.walk_shell(text, origin=origin, via=(*call.via, via))
        self._outer.pop()

    def is_known(self, name: str) -> bool:
        """Is it a program that anything can be said about?"""
        return name in self._matter

    def find_stdin(self, call: ProgramCall) -> Content | None:
        """What it reads; a nested shell hands its own input on."""
        for each in (call, *reversed(self._outer)):
            content = each.stdin or find_stdin(self.known, each.script, each.simple)
            if content is not None:
                return content
        return None

    def _walk_simple(
        self, script: Script, simple: Simple, via: tuple[str, ...]
    ) -> None:
        self.budget.count_commands()
        known = self.known
        words = simple.words
        if simple.dynamic:
            here = (*via, HERE_STRING) if begins_here_string(simple) else via
            for nested, label in list_nested_scripts(simple):
                self.walk_script(nested, (*here, label))
        if known.folder and (
            simple.frames != known.folder_frames
            or not known.continues_chain(script, simple)
        ):
            known.folder = ""
        if simple.assignments:
            for assignment in simple.assignments:
                known.assign(assignment, branch=simple.branch)
                if self._is_run(assignment.name):
                    call = ProgramCall("", [], script, simple, via)
                    self.follow_setting(self, call, assignment)
        if simple.role:
            if simple.role == "for":
                self._walk_loop(simple)
            return
        if not words:
            if simple.redirects or simple.assignments:
                self._redirected(self, ProgramCall("", [], script, simple, via))
            return
        first = words[0]
        if isinstance(first, str):
            if not self._matters(first, simple) and not simple.redirects:
                return
        elif len(alternatives := known.list_alternatives(first)) > 1:
            self._run_alternatives(script, simple, via, alternatives)
            return
        argv = known.build_argv(words) if simple.dynamic else cast("list[str]", words)
        if not argv:
            return
        place = 0 if len(argv) == len(words) else -1
        if len(argv) > MAX_ARGUMENTS:
            raise TooMuchError(f"more than {MAX_ARGUMENTS:,} arguments")
        call = ProgramCall(resolve_program(argv[0]), argv, script, simple, via, place)
        self.run(call)
        if simple.redirects:
            self._redirected(self, call)

    def _matters(self, name: str, simple: Simple) -> bool:
        """Quickly: is there anything to say about it?"""
        if name in self._matter:
            telling = self._matter[name]
            if telling is None or self.report.collects or self.known.has_defined(name):
                return True
            words = [word for word in simple.words if isinstance(word, str)]
            if len(words) < len(simple.words):
                # The verb itself may be expanded, behind however many options.
                return True
            return not telling.isdisjoint(map(str.lower, words))
        return not self._is_harmless(name, simple.words[1:])

    def _is_harmless(self, name: str, words: Sequence[object]) -> bool:
        """Just a word, without a verb that destroys, and not defined by this command."""
        return (
            not names_destroying_verb(words)
            and not may_run_another(name, words)
            and name.isalpha()
            and name.isascii()
            and name.islower()
            and not self.report.collects
            and not self.known.has_defined(name)
        )

    def _run_alternatives(
        self,
        script: Script,
        simple: Simple,
        via: tuple[str, ...],
        alternatives: list[Value],
    ) -> None:
        """A variable that may hold one of several names."""
        rest = self.known.build_argv(simple.words[1:])
        for value in alternatives:
            first = value.split() if isinstance(value, str) else list(value)
            if first:
                argv = first + rest
                self.run(
                    ProgramCall(resolve_program(argv[0]), argv, script, simple, via, -1)
                )

    def _walk_loop(self, simple: Simple) -> None:
        name, *values = simple.words
        for value in self.known.build_argv(values) or [UNKNOWN]:
            self.known.store(str(name), value, branch=True)

    def run(self, call: ProgramCall) -> None:
        """A program with its arguments, wrappers off or on."""
        if call.depth > MAX_DEPTH:
            raise TooMuchError(f"wrapped more than {MAX_DEPTH} deep")
        if len(call.argv) > _MANY:
            # Wrappers in wrappers go through all of them again and again.
            self.budget.count_step(len(call.argv) // 4)
        if self.report.collects:
            self.report.add_part(call)
        name, known = call.name, self.known
        if name not in self._matter and self._is_strange(call):
            return
        if known.functions and name in known.functions:
            self._run_function(call)
        elif known.aliases and call.argv[0] in known.aliases:
            self._run_alias(call)
        elif known.files and (content := known.get_file(call.argv[0])) is not None:
            known.positional, before = tuple(call.argv[1:]), known.positional
            self.walk_content(content, call, call.argv[0])
            known.positional = before
        elif (handler := self._handlers.get(name)) is not None:
            handler(self, call)
        else:
            self.judge(call)

    def _is_strange(self, call: ProgramCall) -> bool:
        """A name that is not what it seems, or not known at all."""
        rule = find_unclear_name(call, self.known, self._matter, self.budget)
        if rule:
            self.report.add_opaque(rule, call)
            # The variable may hold a wrapper such as sudo.
            if len(call.argv) > 1 and resolve_program(call.argv[1]) in PATTERNS:
                self.run_inner(call, 1, "variable")
        return rule is not None

    def _run_function(self, call: ProgramCall) -> None:
        script, first, last = self.known.functions[call.name]
        # By its body, not by its name: a function may define its own name anew.
        body = script.items[first - 1]
        if any(each is body for each in self._active):
            if call.simple.background or reads_from(
                call.argv[0], call.script, call.simple
            ):
                self.report.add("fork-bomb", call)
            return
        before = self.known.positional
        self.known.positional = tuple(call.argv[1:])
        self._active.append(body)
        self.walk_script(
            script, (*call.via, f"function {call.name}"), first=first, last=last
        )
        self._active.pop()
        self.known.positional = before

    def _run_alias(self, call: ProgramCall) -> None:
        name = call.argv[0]
        text = self.known.aliases.pop(name)
        rest = " ".join(call.argv[1:])
        via = (*call.via, f"alias {name}")
        origin = self.report.make_whole_origin(call)
        self.walk_shell(f"{text} {rest}", origin=origin, via=via)
        self.known.aliases[name] = text
