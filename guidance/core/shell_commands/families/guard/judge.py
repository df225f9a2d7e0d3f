"""Everything that one call could do to the guard by words, paths and addresses."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.guard.files import judge_files
from guidance.core.shell_commands.families.guard.records import judge_records
from guidance.core.shell_commands.families.guard.rulings import judge_rulings
from guidance.core.shell_commands.families.guard.servers import KILLING, judge_kill
from guidance.core.shell_commands.families.guard.variables import (
    judge_guard_setting,
    judge_variables,
)
from guidance.core.shell_commands.walk import Walk


def judge_guard(walk: Walk, call: ProgramCall) -> None:
    judge_rulings(walk, call)
    judge_records(walk, call)
    judge_guard_setting(walk, call)
    judge_files(walk, call)
    judge_variables(walk, call)
    if call.name in KILLING:
        judge_kill(walk, call)
    if call.name == "alias" and any(
        word.startswith(("checkrail=", "claude=")) for word in call.argv
    ):
        walk.report.add("guard-settings", call)
