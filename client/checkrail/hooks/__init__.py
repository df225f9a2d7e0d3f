"""Claude Code and Codex under Checkrail: their command hook, and its installation.

`run` answers one event of a hook; it starts with nearly every tool call, so that nothing
is imported here that it does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrail.hooks.installation import Installed as Installed
    from checkrail.hooks.installation import install as install

__all__ = ["install", "run"]


def run(argv: Sequence[str]) -> int:
    """`claude-code PreToolUse …` answers an event, `install claude-code …` sets up."""
    if argv and argv[0] == "install":
        from checkrail.hooks.installation import main

        return main(argv[1:])
    from checkrail.hooks.command import answer

    return answer(argv)


def __getattr__(name: str) -> object:
    if name in {"install", "Installed"}:
        from checkrail.hooks import installation

        return getattr(installation, name)
    raise AttributeError(name)
