"""What is found in a call changes only together with the version stored beside it."""

from __future__ import annotations

from collections.abc import Iterable

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.tools.calls import Call
from guidance.core.tools.judge_call import GATEWAY_VERSION, judge_call
from guidance.core.tools.section import ToolRules
from tests.guidance.core.held_out.cases import SETS, list_cases
from tests.guidance.core.shell_commands.corpus import CASES
from tests.guidance.core.tools.builders import KEY, command

# The version, and digests over what it finds: in the held-out calls and the seeds, whose
# texts never change, and in the corpus, which grows.
VERSION = 14
IN_FIXED_CALLS = (
    "sha256:2fc787b40d260dffba84512bc60ee4f8fb9caa549eafdd04833725fc99cd8c53"
)
IN_CORPUS = "sha256:5b36cfb209906bc9e245f02436d52169c0d6a812dae44ec01424f1f4c9033378"

_RAISE = (
    "The gates find something else than they did in version {version}. Replay holds "
    "decisions of one version against each other: raise GATEWAY_VERSION by one for all "
    "changes that are not released yet, then write the version and both digests here."
)
_GROWN = (
    "The gates find the same in the calls that never change, and something else in the "
    "corpus. If all you did was to add, remove or move rows, write the new digest here "
    "and keep the version. If a row that was there before is found otherwise, raise "
    "GATEWAY_VERSION as well."
)


def test_other_findings_take_the_next_version() -> None:
    seeds = (case.command for case in CASES if case.category.startswith("seed"))
    held_out = (case.call for name in SETS for case in list_cases(name))
    found = digest([*map(command, sorted(seeds)), *held_out])

    assert (GATEWAY_VERSION, found) == (VERSION, IN_FIXED_CALLS), _RAISE.format(
        version=VERSION
    )


def test_other_findings_in_the_corpus_take_the_next_version() -> None:
    found = digest(map(command, sorted({case.command for case in CASES})))

    assert found == IN_CORPUS, _GROWN


def digest(calls: Iterable[Call]) -> str:
    """Over all findings, word for word."""
    rules = ToolRules()
    return hash_text(
        to_canonical_json(
            [
                judge_call(rules=rules, call=call, fingerprint_key=KEY).to_json()
                for call in calls
            ]
        )
    )
