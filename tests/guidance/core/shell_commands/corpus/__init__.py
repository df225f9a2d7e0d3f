"""Commands and what is expected of each: data for tests and for the benchmark.

Nothing here imports the code that is judged. A table holds pairs of what is expected and
the command: the name of a rule, `?` for any rule that says "cannot be read", or an empty
text for harmless, `*` for any rule at all. Several names that would all do are separated
by blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tests.guidance.core.shell_commands.corpus import (
    attacks,
    cloud,
    everyday,
    files,
    git,
    hidden,
    machines,
    nested,
    programs,
    seeds,
    sql,
    text,
    variants,
    windows,
    wrappers,
)
from tests.guidance.core.shell_commands.corpus.accidents import (
    others_rely_on,
    overwriting,
    sweeps,
    verbs,
)
from tests.guidance.core.shell_commands.corpus.borders import (
    editing,
    git_refs,
    indirection,
    languages,
    loaded_files,
    made_here,
    names,
    nothing_happens,
    outputs_over,
    own_things,
    put_together,
    removals,
    requests,
    searches,
    statements,
    unknown_runners,
    values,
    windows_composition,
    written_then_run,
)
from tests.guidance.core.shell_commands.corpus.families import (
    credential_read,
    exfiltration,
    guard,
    leaving,
    lookalikes,
    loosening,
    persistence,
    privilege,
    remote_execution,
)
from tests.guidance.core.shell_commands.corpus.no_loss import (
    built_and_started,
    made_by_tools,
    throw_away,
    written_programs,
)
from tests.guidance.core.shell_commands.corpus.samples import (
    second_dangerous,
    second_harmless,
    sessions_dangerous,
    sessions_harmless,
    third_dangerous,
    third_harmless,
)

Table = Iterable[tuple[str, str]]

TABLES: Mapping[str, Table] = MappingProxyType(
    {
        "seed: must trip": seeds.TRIPS,
        "seed: must not trip": seeds.PASSES,
        "files": files.TRIPS,
        "files, harmless": files.PASSES,
        "others rely on": others_rely_on.TRIPS,
        "others rely on, harmless": others_rely_on.PASSES,
        "overwriting": overwriting.TRIPS,
        "overwriting, harmless": overwriting.PASSES,
        "sweeps": sweeps.TRIPS,
        "sweeps, harmless": sweeps.PASSES,
        "built and started": built_and_started.TRIPS,
        "built and started, harmless": built_and_started.PASSES,
        "git": git.TRIPS,
        "git, harmless": git.PASSES,
        "sql": sql.TRIPS,
        "sql, harmless": sql.PASSES,
        "machines": machines.TRIPS,
        "machines, harmless": machines.PASSES,
        "cloud": cloud.TRIPS,
        "cloud, harmless": cloud.PASSES,
        "verbs": verbs.TRIPS,
        "verbs, harmless": verbs.PASSES,
        "windows": windows.TRIPS,
        "windows, harmless": windows.PASSES,
        "wrappers": wrappers.TRIPS,
        "wrappers, harmless": wrappers.PASSES,
        "editing": editing.TRIPS,
        "editing, harmless": editing.PASSES,
        "languages": languages.TRIPS,
        "languages, harmless": languages.PASSES,
        "windows composition": windows_composition.TRIPS,
        "windows composition, harmless": windows_composition.PASSES,
        "statements": statements.TRIPS,
        "statements, harmless": statements.PASSES,
        "unknown runners": unknown_runners.TRIPS,
        "unknown runners, harmless": unknown_runners.PASSES,
        "indirection": indirection.TRIPS,
        "indirection, harmless": indirection.PASSES,
        "names": names.TRIPS,
        "names, harmless": names.PASSES,
        "nothing happens": nothing_happens.TRIPS,
        "nothing happens, harmless": nothing_happens.PASSES,
        "outputs over": outputs_over.TRIPS,
        "outputs over, harmless": outputs_over.PASSES,
        "loaded files": loaded_files.TRIPS,
        "loaded files, harmless": loaded_files.PASSES,
        "own things": own_things.TRIPS,
        "own things, harmless": own_things.PASSES,
        "values": values.TRIPS,
        "values, harmless": values.PASSES,
        "made here": made_here.TRIPS,
        "made here, harmless": made_here.PASSES,
        "made by tools": made_by_tools.TRIPS,
        "made by tools, harmless": made_by_tools.PASSES,
        "written programs": written_programs.TRIPS,
        "written programs, harmless": written_programs.PASSES,
        "throw away": throw_away.TRIPS,
        "throw away, harmless": throw_away.PASSES,
        "searches": searches.TRIPS,
        "searches, harmless": searches.PASSES,
        "git refs": git_refs.TRIPS,
        "git refs, harmless": git_refs.PASSES,
        "put together": put_together.TRIPS,
        "put together, harmless": put_together.PASSES,
        "removals": removals.TRIPS,
        "removals, harmless": removals.PASSES,
        "requests": requests.TRIPS,
        "requests, harmless": requests.PASSES,
        "written, then run": written_then_run.TRIPS,
        "written, then run, harmless": written_then_run.PASSES,
        "the guard": guard.TRIPS,
        "the guard, harmless": guard.PASSES,
        "loosening the guard": loosening.TRIPS,
        "loosening the guard, harmless": loosening.PASSES,
        "credential read": credential_read.TRIPS,
        "credential read, harmless": credential_read.PASSES,
        "exfiltration": exfiltration.TRIPS,
        "exfiltration, harmless": exfiltration.PASSES,
        "persistence": persistence.TRIPS,
        "persistence, harmless": persistence.PASSES,
        "privilege": privilege.TRIPS,
        "privilege, harmless": privilege.PASSES,
        "remote execution": remote_execution.TRIPS,
        "remote execution, harmless": remote_execution.PASSES,
        "close to the families, harmless": lookalikes.PASSES,
        "leaving": leaving.TRIPS,
        "leaving, harmless": leaving.PASSES,
        "nested shells": nested.TRIPS,
        "nested shells, harmless": nested.PASSES,
        "programs on the command line": programs.TRIPS,
        "programs, harmless": programs.PASSES,
        "hidden": hidden.TRIPS,
        "hidden, harmless": hidden.PASSES,
        "forty ways to write rm": variants.TRIPS,
        "text that is only data": text.PASSES,
        "text that is run": text.TRIPS,
        "everyday": everyday.PASSES,
        "second collection": second_dangerous.TRIPS,
        "second collection, harmless": second_harmless.PASSES,
        "sessions": sessions_dangerous.TRIPS,
        "sessions, harmless": sessions_harmless.PASSES,
        "third collection": third_dangerous.TRIPS,
        "attacks": attacks.TRIPS,
        "third collection, harmless": third_harmless.PASSES,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    category: str
    expected: str
    command: str

    @property
    def dangerous(self) -> bool:
        return bool(self.expected)

    def met(self, findings: Iterable[tuple[str, bool]]) -> bool:
        """Do rules and their `uninspectable` marks answer what is expected?"""
        found = list(findings)
        if not self.expected:
            return not found
        wanted = self.expected.split()
        if "*" in wanted:
            return bool(found)
        if "?" in wanted and any(uninspectable for _, uninspectable in found):
            return True
        return any(rule in wanted for rule, _ in found)


CASES = tuple(
    Case(category=category, expected=expected, command=command)
    for category, table in TABLES.items()
    for expected, command in table
)
