"""What scanning costs: python -m tests.guidance.core.secrets.measure [a text file]."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from guidance.core.secrets import redact, redact_text, warm_up
from tests.guidance.core.secrets.bombs import BOMBS

COMMAND = """\
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
for service in api worker web; do
  docker build --pull --tag "registry.host/$service:$GIT_SHA" --file "docker/$service" .
  docker push "registry.host/$service:$GIT_SHA" | tail -n 1
done
python -m pip install --quiet --requirement requirements.txt
pytest -q -k 'login and not slow' --maxfail=1 --junitxml=out/junit.xml || exit 1
find . -name '*.pyc' -newermt 2026-01-01 -print0 | xargs -0 -r rm --
kubectl --namespace staging set image deployment/api api="registry.host/api:$GIT_SHA"
curl --fail --silent -H "Authorization: Bearer $TOKEN" https://host.local/healthz | jq .
psql "$DATABASE_URL" -c "select id, state from jobs where state = 'stuck' limit 10"
"""

# What a step or a call says, most of which holds nothing.
SAID: dict[str, object] = {
    "a word": "bug-fix",
    "a signature": "edit:src/app/models.py:save",
    "a sentence": "Read the failing test and kept the empty lines in the parser.",
    "a sentence about a token": "Counted each token of the parser: 3 passed.",
    "labels": {"team": "payments", "repo": "acme/web", "branch": "fix/empty-lines"},
    "a call": {
        "tool": "Bash",
        "arguments": {"command": "pytest -q tests/parser && git diff --stat"},
    },
    "an edit": {
        "tool": "Edit",
        "arguments": {
            "file_path": "src/parser/lines.py",
            "old_string": "def keep(line):\n    return line.strip()\n",
            "new_string": "def keep(line: str) -> str:\n    return line.rstrip()\n",
        },
    },
    "a command with a secret": {
        "command": "curl -u bob:Tr0ub4dor https://api.invalid/"
    },
}


def microseconds(value: object, *, times: int = 2_000, rounds: int = 5) -> float:
    """For one of many, in the best round, by the time of this thread alone."""
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(times):
            redact(value, fingerprint_key=b"k")
        best = min(best, time.thread_time() - start)
    return best / times * 1_000_000


def milliseconds(text: str, *, times: int) -> float:
    """The best of several runs, by the time of this thread alone."""
    best = float("inf")
    for _ in range(times):
        start = time.thread_time()
        redact_text(text, fingerprint_key=b"k")
        best = min(best, time.thread_time() - start)
    return best * 1_000


def main() -> None:
    warm_up()
    for name, value in SAID.items():
        sys.stdout.write(f"{name:34} {microseconds(value):9.2f} µs\n")
    source = Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    code = source.read_text(encoding="utf-8")
    rows = [
        ("command, 2 KiB", (COMMAND * 20)[:2_048], 500),
        ("code, 2 KiB", (code * 20)[:2_048], 500),
        ("command, 100 KiB", (COMMAND * 900)[:102_400], 20),
        ("code, 100 KiB", (code * 200)[:102_400], 20),
        *((f"bomb {name}, 256 KiB", text, 3) for name, text in BOMBS.items()),
    ]
    for name, text, times in rows:
        sys.stdout.write(f"{name:34} {milliseconds(text, times=times):9.3f} ms\n")
    start = time.thread_time()
    redact_text(BOMBS["passwords"], fingerprint_key=b"k")
    spent = (time.thread_time() - start) * 1_000
    sys.stdout.write(f"{'redacting 500 secrets, 256 KiB':34} {spent:9.3f} ms\n")


if __name__ == "__main__":
    main()
