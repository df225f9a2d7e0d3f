"""Hints that several threads send at once, the first that load Celery."""

from __future__ import annotations

import subprocess
import sys

from tests.runner.database import ROOT

LOAD = """
import threading
from ledger.waiting.task_hints import load_celery

together, loaded = threading.Barrier(8), []

def load():
    together.wait()
    loaded.append(load_celery().main)

threads = [threading.Thread(target=load) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(loaded))
"""


def test_several_threads_may_be_the_first_to_send() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", LOAD],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.stdout == "8\n", ended.stderr
