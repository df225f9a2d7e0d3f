"""Branches that git moves or deletes by its plumbing, by a fetch or by an old commit."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.walk import Walk

# What `update-ref --stdin` reads, and which of it loses nothing.
_HARMLESS_LINE = re.compile(
    r"\s*(?:(?:create|verify|start|prepare|commit|abort|option|symref-create)\b.*)?"
)
_BRANCH = re.compile(r"HEAD|refs/heads/.+")
# Over a local branch; who fetches a pull request makes a branch of its own.
_INTO_BRANCH = re.compile(
    r"(\+?)(?!.*(?:pull|merge-requests)/)[^:]+:(?:refs/heads/.+|(?!refs/)[^:]+)"
)
_HASH = re.compile(r"[0-9a-f]{7,40}")


def unwrap_update_ref(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    """`git update-ref`: by name, or by lines that it reads."""
    if "--stdin" in call.argv:
        content = walk.find_stdin(call)
        if content is None or content.opaque or not _keeps_all(content.text):
            walk.report.add("git-branch-delete", call)
    elif len(places) + (call.more != ()) == 3 and _BRANCH.fullmatch(
        call.argv[places[1]]
    ):
        # Without the old value nothing is compared.
        walk.report.add("git-branch-delete", call)


def _keeps_all(text: str) -> bool:
    return all(map(_HARMLESS_LINE.fullmatch, re.split(r"[\n\0]", text)))


def unwrap_fetch(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    """`git fetch origin +main:main` puts another branch over one's own."""
    argv = call.argv
    if "--dry-run" in argv:
        return
    forced = "--force" in argv or "-f" in argv
    for place in places[2:]:
        found = _INTO_BRANCH.fullmatch(argv[place])
        if found and (forced or found[1]):
            walk.report.add("git-branch-delete", call)
            return


def unwrap_push(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    """A lease asks whether others have pushed, not whether anything is lost."""
    argv = call.argv
    leased = any(word.startswith("--force-with-lease") for word in argv)
    if leased and any(_is_old_commit(argv[place]) for place in places[1:]):
        walk.report.add("git-push-force", call)


def _is_old_commit(refspec: str) -> bool:
    """`HEAD~4:main`: the lease holds, and everything after that commit is gone."""
    commit, _, branch = refspec.partition(":")
    named = _HASH.fullmatch(commit) or any(sign in commit for sign in "~^@")
    return bool(branch and named)
