"""Whether what a review lets happen can be undone, by the rules that asked.

Where nothing is known that undoes it, it counts as irreversible.
"""

from __future__ import annotations

from collections.abc import Iterable

from guidance.core.reviews.severity import Reason
from guidance.core.shell_commands.rules.rule import DESTRUCTIVE, GUARD

READ_ONLY = "read-only"
HERE = "reversible here"
ELSEWHERE = "reversible elsewhere"
IRREVERSIBLE = "irreversible"
# The worst last.
REVERSIBILITIES = (READ_ONLY, HERE, ELSEWHERE, IRREVERSIBLE)

_BY_FAMILY = {
    DESTRUCTIVE: IRREVERSIBLE,
    "credential-read": READ_ONLY,
    "exfiltration": IRREVERSIBLE,
    "persistence": HERE,
    "privilege": ELSEWHERE,
    "remote-execution": IRREVERSIBLE,
    GUARD: IRREVERSIBLE,
}
# Rules of a family of which it is not the same.
_BY_RULE = {
    # Version control keeps it where the work is done, or on another machine.
    "git-branch-delete": HERE,
    "git-stash-drop": HERE,
    "git-push-force": ELSEWHERE,
    "git-push-delete": ELSEWHERE,
    "repository-settings": ELSEWHERE,
    # Started, installed or set again.
    "power-off": ELSEWHERE,
    "service-stop": HERE,
    "kill-all": HERE,
    "package-remove": HERE,
    "package-settings": ELSEWHERE,
    "container-delete": ELSEWHERE,
    "helm-uninstall": ELSEWHERE,
    "infrastructure-apply": ELSEWHERE,
    "persist-account": ELSEWHERE,
    "exfil-serve": ELSEWHERE,
    "remote-build-step": HERE,
}
# Of kinds that no rule of a call speaks about: the run can be stopped again, an answer
# corrected, a version of a policy put back.
_BY_KIND = {
    "pause": HERE,
    "exhausted": HERE,
    "question": HERE,
    "policy_change": HERE,
}


def decide_reversibility(*, kind: str, reasons: Iterable[Reason] = ()) -> str:
    """That of the worst reason; without a call, that of the kind."""
    if kind not in ("confirmation", "plan"):
        return _BY_KIND.get(kind, IRREVERSIBLE)
    ranks = [rank_reversibility(_decide_reason(each)) for each in reasons]
    return REVERSIBILITIES[max(ranks, default=len(REVERSIBILITIES) - 1)]


def rank_reversibility(reversibility: str) -> int:
    """Read-only is 0."""
    return REVERSIBILITIES.index(reversibility)


def _decide_reason(reason: Reason) -> str:
    return _BY_RULE.get(reason.rule) or _BY_FAMILY.get(reason.gate, IRREVERSIBLE)
