"""How an agent gets its first key on this very server: what an empty page says."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from django.conf import settings


def build_key_command(project: str) -> str:
    """To be run in the folder of the server, by whoever started it."""
    words = [_python(), "manage.py", "agent_key", "my-agent", "--project", project]
    data = settings.ENVIRONMENT.data.absolute()
    if settings.EMBEDDED and data != settings.ROOT / "var":
        words += ["--data", str(data)]
    return shlex.join(words)


def _python() -> str:
    """The interpreter that has what the server needs, as it is called from there."""
    if sys.prefix == sys.base_prefix:
        return "python"
    program = Path(sys.executable)
    if program.is_relative_to(settings.ROOT):
        return str(program.relative_to(settings.ROOT))
    return str(program)
