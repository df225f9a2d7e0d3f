"""A batch of steps as nearly all of them are, read in a third of the time (bench batches).

Its JSON is read and validated at once, and the texts of all its steps are searched for
secrets together. Whatever this is not sure of goes the usual way, and is judged there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, ValidationError

from gateway.schemas.runs import UncleanStepIn
from guidance.core.secrets.scan import may_hold_hits
from guidance.core.strict_json import NODE_LIMIT
from reviews.schemas.fields import Body

# Longer ones would hold up the event loop.
LONGEST = 65_536
_ZERO = re.compile(rb"[\s:,\[]-0")


class CleanBatchIn(Body):
    """Made by `read_batch` alone, which has searched its texts."""

    steps: Annotated[list[UncleanStepIn], Field(min_length=1, max_length=100)]


def read_batch(raw: bytes) -> CleanBatchIn | None:
    """None unless the usual way reads the same from it."""
    # Only an escape writes NUL, half of a surrogate pair, or a character in two ways.
    if len(raw) > LONGEST or b"\\u" in raw or _may_be_flood(raw) or _has_zero(raw):
        return None
    try:
        batch = CleanBatchIn.model_validate_json(raw)
    except ValidationError:
        return None
    texts = [text for step in batch.steps for text in (step.summary, step.signature)]
    joined = "\n".join(filter(None, texts))
    if _has_key_twice(raw, batch.steps, joined) or may_hold_hits(joined):
        return None
    return batch


def _may_be_flood(raw: bytes) -> bool:
    """Each value but the first has a comma or a bracket before it."""
    return raw.count(b",") + raw.count(b"{") + raw.count(b"[") >= NODE_LIMIT


def _has_zero(raw: bytes) -> bool:
    """-0, which is refused, or a number below 0, as no field takes one."""
    return b"-0" in raw and _ZERO.search(raw) is not None


def _has_key_twice(raw: bytes, steps: Iterable[UncleanStepIn], joined: str) -> bool:
    """There is a colon for each key, and in no text but these. Of a key that stands twice
    only the last is left, so there are more colons than keys."""
    keys = 1 + sum(len(step.model_fields_set) for step in steps)
    return raw.count(b":") != keys + joined.count(":")
