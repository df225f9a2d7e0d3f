"""Field types of request bodies: strict, bounded, secrets removed."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from guidance.redactor import clean

# A thousand billion: no honest figure of one step is larger, and sums of a million
# such steps still fit a database integer.
AMOUNT_MAX = 10**12
BUDGET_MAX = 10**15
STEP_MAX = 2**31 - 1
Amount = Annotated[int, Field(ge=0, le=AMOUNT_MAX)]
Limit = Annotated[int, Field(ge=0, le=BUDGET_MAX)]
StepNumber = Annotated[int, Field(ge=1, le=STEP_MAX)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Money = Annotated[
    str, StringConstraints(pattern=r"^(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?$")
]
Code = Annotated[str, StringConstraints(min_length=36, max_length=36)]
Intent = Literal[
    "bug-fix",
    "feature",
    "refactor",
    "security",
    "performance",
    "testing",
    "docs",
    "deployment",
    "architecture",
    "debug",
    "general",
]
# An agent's own words are kept and shown to people: secrets in them are not.
Redacted = AfterValidator(clean)
# Of a list or an object once for all of it: one by one costs a thousand times more.
Cleaned = BeforeValidator(clean)


def redact_and_cut(limit: int) -> AfterValidator:
    """Kept where there is no more room: a label may be longer than its secret."""

    def shorten(text: str) -> str:
        cleaned = clean(text)
        return cleaned if len(cleaned) <= limit else cleaned[: limit - 1] + "…"

    return AfterValidator(shorten)


def redact_and_hash(limit: int) -> AfterValidator:
    """The same for a name that tells things apart: it is never cut to another one's."""

    def shorten(name: str) -> str:
        cleaned = clean(name)
        if len(cleaned) <= limit:
            return cleaned
        return f"sha256:{hashlib.sha256(cleaned.encode()).hexdigest()}"

    return AfterValidator(shorten)


LabelName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
LabelValue = Annotated[str, StringConstraints(max_length=256)]
SHORT = StringConstraints(max_length=4_000)
ShortText = Annotated[str, SHORT, Redacted]
LongText = Annotated[str, StringConstraints(max_length=20_000), Redacted]
# What people write goes to the agent as it was written.
Reason = Annotated[str, StringConstraints(max_length=4_000)]
Text = Annotated[str, StringConstraints(max_length=20_000)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
