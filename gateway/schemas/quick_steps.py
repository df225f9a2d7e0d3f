"""Steps as nearly all of them are, read in a third of the time (bench steps, batches).

Their JSON is read and validated at once, and all their texts are searched for secrets
together. Whatever this is not sure of goes the usual way, and is judged there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, ValidationError

from gateway.schemas.runs import UncleanStepIn
from guidance.core.secrets.scan import may_hold_hits
from guidance.core.strict_json import NODE_LIMIT
from reviews.schemas.fields import Body

# Longer ones would hold up the event loop.
LONGEST = 65_536
# What stands before it is looked at last: few bytes are a minus (bench batches).
_BELOW_ZERO = re.compile(rb"-[0-9](?<=[\s:,\[]-[0-9])")


class CleanBatchIn(Body):
    """Made by `read_batch` alone, which has searched its texts."""

    steps: Annotated[list[UncleanStepIn], Field(min_length=1, max_length=100)]


# The method of the class looks through options first.
_validate_step = UncleanStepIn.__pydantic_validator__.validate_json


def read_step(raw: bytes) -> UncleanStepIn | None:
    """None unless the usual way reads the same from it; its texts were searched."""
    if _is_unusual(raw):
        return None
    try:
        step: UncleanStepIn = _validate_step(raw)
    except ValidationError:
        return None
    return step if _is_read_alike(raw, [step], others=0) else None


def read_batch(raw: bytes) -> CleanBatchIn | None:
    """The same for several steps."""
    if _is_unusual(raw):
        return None
    try:
        batch = CleanBatchIn.model_validate_json(raw)
    except ValidationError:
        return None
    return batch if _is_read_alike(raw, batch.steps, others=1) else None


def _is_unusual(raw: bytes) -> bool:
    """Only an escape writes NUL, half of a surrogate pair, or a character in two ways."""
    return len(raw) > LONGEST or b"\\u" in raw or _may_be_below_zero(raw)


def _may_be_below_zero(raw: bytes) -> bool:
    """No field takes such a number, but -0, and -1e-400 which becomes it, look like 0."""
    return b"-" in raw and _BELOW_ZERO.search(raw) is not None


def _is_read_alike(raw: bytes, steps: Sequence[UncleanStepIn], *, others: int) -> bool:
    """Whether no key stands twice, there are not too many values, and no text may hold a
    secret. `others` are the keys that are not of a step.

    There is a colon for each key, and in no text but these. Of a key that stands twice only
    the last is left, so there are more colons than keys. Values are those of the keys and
    those of lists, and the body itself.
    """
    texts = [text for step in steps for text in (step.summary, step.signature)]
    joined = "\n".join(filter(None, texts))
    keys = others + sum([len(step.model_fields_set) for step in steps])
    values = 1 + keys + len(steps) + sum([len(step.confidences) for step in steps])
    if values >= NODE_LIMIT:
        return False
    return raw.count(b":") == keys + joined.count(":") and not may_hold_hits(joined)
