"""Sets of names, written as one text each."""

from __future__ import annotations

import re


def split_names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Verbs that destroy something, whoever is told.
DESTROYING_VERBS = (
    *("delete", "destroy", "purge", "terminate", "wipe", "erase", "teardown"),
)
# Programs that are worth a look where any other program is given them to run.
RUN_BY_OTHERS = split_names(
    "rm rmdir shred unlink truncate dd mkfs wipefs dropdb git docker podman kubectl helm "
    "terraform tofu psql mysql sqlite3 mongosh redis-cli aws gcloud az bash sh zsh dash sudo env find "
    "xargs chmod chown"
)
# Without one of these nothing can be said about a program that is not known.
TELLING = RUN_BY_OTHERS | {*DESTROYING_VERBS}
# The same within a word: apps:destroy, delete-cluster.
VERB_IN_WORD = re.compile(
    rf"[-_:.](?:{'|'.join(DESTROYING_VERBS)})|(?:{'|'.join(DESTROYING_VERBS)})[-_:]|tear-down",
    re.IGNORECASE,
)
