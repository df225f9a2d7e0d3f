"""Write out every pattern that is compiled while all apps are imported and calls are judged.

Run as a program: nothing of ours may have been imported before it listens.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
APPS = (
    *("accounts", "checkrail", "common", "config", "console", "demo", "gateway"),
    *("guidance", "ledger", "loop", "notifications", "reviews", "safetext", "webhooks"),
)
JUDGED = 600
_PASSED_OVER = ("re", "functools.py", Path(__file__).name)


class Compiled(NamedTuple):
    """`file` is the first of ours on the way to the pattern, or another's own."""

    file: str
    pattern: str
    flags: int


def main(seed: int) -> None:
    found = set(listen(seed))
    sys.stdout.write(f"{json.dumps(sorted(found))}\n")


def listen(seed: int) -> Iterator[Compiled]:
    compiler = re._compiler  # type: ignore[attr-defined]
    compile_as_usual = compiler.compile
    seen: list[Compiled] = []

    def compile_and_note(pattern: Any, flags: int = 0) -> Any:
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else str(pattern)
        seen.append(Compiled(name_caller(), text, int(flags)))
        return compile_as_usual(pattern, flags)

    compiler.compile = compile_and_note
    import_everything()
    judge_calls(random.Random(seed))
    yield from seen


def name_caller() -> str:
    frame = sys._getframe(2)
    while Path(frame.f_code.co_filename).name in _PASSED_OVER or (
        Path(frame.f_code.co_filename).parent.name == "re"
    ):
        assert frame.f_back is not None
        frame = frame.f_back
    return frame.f_code.co_filename


def import_everything() -> None:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    sys.path[:0] = [str(ROOT), str(ROOT / "client")]
    django.setup()
    for app in APPS:
        folder = importlib.import_module(app).__path__
        for module in pkgutil.walk_packages(folder, f"{app}."):
            if not module.name.endswith(".__main__"):
                importlib.import_module(module.name)


def judge_calls(chance: random.Random) -> None:
    from bench.gates.calls import build_slow_calls, judge
    from guidance.core.tools.calls import CommandCall
    from tests.guidance.core.shell_commands.corpus import CASES

    for case in chance.sample(CASES, JUDGED):
        judge(CommandCall(tool="Bash", command=case.command))
    for call in chance.sample(list(build_slow_calls().values()), 10):
        judge(call)


if __name__ == "__main__":
    main(int(sys.argv[1]))
