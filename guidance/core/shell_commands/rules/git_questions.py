"""Conditions of the rules about version control."""

from __future__ import annotations

import re

from guidance.core.shell_commands.paths import is_disposable, is_temporary
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.word_lists import split_names

# Where tools put what they make; of what git ignores there nothing was written by hand.
_OUTPUT = split_names("build dist out target bin obj public coverage")
_TRIAL_BRANCH = re.compile(
    r"(?:[\w-]+/)?(?:tmp|temp|scratch|throwaway)(?:[-_/][\w./-]*)?"
)


# A branch or tag of Subversion, or all of them.
_BRANCH_ADDRESS = re.compile(r"://.*/(?:trunk|branches|tags)(?:/[^/]*)?/?\Z")


def _cleans_more(found: Invocation) -> bool:
    """Than what tools make again, and what is ignored in the folders of their output."""
    ignored = "-X" in found.flags
    if ignored and found.flags.get("-e", "").startswith("!.env"):
        # The one ignored file that people write is kept.
        return False
    paths = found.operands[1:]
    return not paths or not all(
        is_disposable(path, found.disposable)
        or (ignored and path.rstrip("/").rpartition("/")[2] in _OUTPUT)
        for path in paths
    )


def _is_kept_branch(found: Invocation) -> bool:
    """Not one whose name says that it is for now."""
    names = [found.flags[flag] for flag in ("-B", "-C") if found.flags.get(flag)]
    names = names or found.operands[1:]
    if found.has_any(("-f", "--force")) and not found.has_any(("-d", "-D", "--delete")):
        names = found.operands[1:2]
    return not names or not all(map(_TRIAL_BRANCH.fullmatch, names))


def _is_at_address(found: Invocation) -> bool:
    """In the repository itself: that is committed at once."""
    return any(map(_BRANCH_ADDRESS.search, found.operands[1:]))


def _is_kept_worktree(found: Invocation) -> bool:
    paths = found.operands[2:]
    return (
        found.open_ended
        or not paths
        or not all(is_temporary(path, folder=found.folder) for path in paths)
    )


QUESTIONS: dict[str, Question] = {
    "kept-worktree": _is_kept_worktree,
    "at-address": _is_at_address,
    "cleans-more": _cleans_more,
    "kept-branch": _is_kept_branch,
}
