"""The smallest agent under Checkrail: it asks before each command, and reports each step."""

from __future__ import annotations

import subprocess

from checkrail import Checkrail

with Checkrail().run("Tidy up", on_wait=lambda review: print(review.url)) as run:
    for command in ("ls", "rm -rf build"):
        with run.check_command(command) as call:  # waits where a person must look
            # As it was judged: the way a shell reads it.
            subprocess.run(call.command, shell=True, check=True)  # noqa: S602
        run.step(tokens=120, tool_calls=1, summary=f"Ran {call.command}")
