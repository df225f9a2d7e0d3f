"""docs/claude-code.md says what is there."""

from __future__ import annotations

import json
import re

from checkrail.hooks.events import EVENTS
from checkrail.hooks.installation import build_parser
from checkrail.hooks.settings_hooks import HookOptions, add_hooks

from tests.docs.markdown import blocks, read_page, table_under

PAGE = read_page("docs/claude-code.md")


def test_every_event_and_option_is_on_the_page() -> None:
    rows = table_under(PAGE, first_column="event")
    told = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert told == {*EVENTS["claude-code"], *EVENTS["codex"]}
    for action in build_parser()._actions:
        for name in action.option_strings:
            if name not in {"-h", "--help"}:
                assert name in PAGE, name


def test_the_example_is_what_the_installation_writes() -> None:
    example = json.loads(blocks(PAGE, language="json")[0])
    wanted = HookOptions(
        host="claude-code", url="https://checkrail.example.org", by_http=True
    )
    written = add_hooks({}, wanted)["hooks"]["PreToolUse"]
    assert example["hooks"]["PreToolUse"] == written
