"""A linter that knows nothing of us reads the document."""

from __future__ import annotations

import json
from pathlib import Path

from tests.node.packages import run_tool

HERE = Path(__file__).parent

# Hooks are always answered with 200: a host takes all else for a yes.
KNOWN = [
    ("operation-4xx-response", "#/paths/~1api~1v1~1hooks~1{dialect}~1{event}/post")
]


def test_redocly_finds_nothing(document: Path, workplace: Path) -> None:
    said = run_tool(
        workplace,
        "redocly",
        *("lint", str(document), "--format", "json"),
        *("--config", str(HERE / "redocly.yaml")),
    )

    found = [
        (
            problem["ruleId"],
            problem["location"][0]["pointer"].removesuffix("/responses"),
        )
        for problem in json.loads(said)["problems"]
    ]
    assert found == KNOWN
