"""What a call costs that is the first of its process, after the server's warm-up.

Patterns build their automata as they go, so a process that has judged other calls says
little about one that has not. Each call is judged in a copy of a process that was just
warmed up: `python -m bench.gates.first_calls` prints as JSON how long each took, and how
slow the machine was then.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time

from bench.gates.calls import build_slow_calls, judge
from bench.yardstick import Timing, measure_slowness
from guidance.core.secrets import warm_up


def measure_first_calls() -> dict[str, Timing]:
    done = subprocess.run(
        [sys.executable, "-m", __name__], check=True, stdout=subprocess.PIPE
    )
    return {name: Timing(*took) for name, took in json.loads(done.stdout).items()}


def main() -> None:
    calls = build_slow_calls()
    warm_up()
    gc.disable()  # as elsewhere in this bench: it runs when it likes
    took = {}
    for name, call in calls.items():
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            began = time.process_time()
            judge(call)
            seconds = time.process_time() - began
            os.write(writer, json.dumps([seconds, measure_slowness()]).encode())
            os._exit(0)
        os.waitpid(child, 0)
        took[name] = json.loads(os.read(reader, 64))
        os.close(reader)
        os.close(writer)
    print(json.dumps(took))


if __name__ == "__main__":
    main()
