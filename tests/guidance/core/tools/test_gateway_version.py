"""What is found in a call changes only together with the version stored beside it."""

from __future__ import annotations

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.tools.judge_call import GATEWAY_VERSION
from tests.guidance.core.shell_commands.corpus import CASES
from tests.guidance.core.tools.builders import command, judged

# The version, and a digest over the findings on the seeds' commands, which do not change.
JUDGED = (
    8,
    "sha256:f0fe102b811751f6daccf4fc0c0868cf6541c4329b87e9c44e57d07d4fbd2fb8",
)


def test_other_findings_take_the_next_version() -> None:
    commands = sorted(
        case.command for case in CASES if case.category.startswith("seed")
    )
    found = [judged(command(text)).to_json() for text in commands]

    assert (GATEWAY_VERSION, hash_text(to_canonical_json(found))) == JUDGED, (
        "The gates find something else than they did. Replay holds decisions of one "
        "version against each other: raise GATEWAY_VERSION, then write both here."
    )
