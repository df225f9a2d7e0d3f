"""One recorded day of the whole product, as text files that show any change of behaviour.

`make golden` plays the day again and shows every difference; `make golden ARGS=--write`
writes the files new. They lie in `recorded/`:

- `policy_schema.json`: the published schema of policies.
- `openapi.json`: the API's document, which no other file of the repository holds.
- `answers/`: every operation of the API in the order of the day, as asked and as answered,
  with refusals; and the forms that people send at the console.
- `pages/`: every page of the console at the end of the day, and `parts/` of them.
- `entries/`: what is stored of each type of ledger entry, in formats 1 and 2.
- `webhooks.txt`: the body and the signed headers of one delivery of every event.
- `commands_format_*.txt`: the words of `replay` and `ledger_verify` over that day.
- `missing_*.json`: what the day does not have; `test_golden` says why.

Where a text cannot be the same on each machine, `writing.MASKS` says what stands there.
"""

from __future__ import annotations

import pytest

pytestmark = [
    pytest.mark.once("plays its day on a SQLite file of its own"),
    pytest.mark.slow("plays a whole day in a process of its own"),
]
