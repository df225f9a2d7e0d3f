"""The payload of a step, kept as its values alone: `z2:` and one behind the other, in the
order in which they stand in the payload, without the names that every step has. That is as
short as deflate makes it, in a fifth of the time (bench steps).

The texts here are for ever: others get another number.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from ledger.models.hashes import expand_hash, shorten_hash

STEP_MARK = "z2:"
# No JSON text holds it: control characters are escaped there.
SEPARATOR = "\x1e"
# Where nothing stands between the places of two values, there may be fields that few steps
# have, with their commas: before the engine, before the verdict, and behind it.
STEP = (
    '{%s"engine":%s,"policy":%s,"report":{"checkpoint":%s,"coherence":%s,"confidences":[%s],'
    '"cost_micros":%s,"duration_ms":%s,"failed_calls":%s,"intent":%s,"number":%s,'
    '"rework":%s,"signature":%s,"summary":%s,"tokens":%s,"tool_calls":%s,"uncertainty":%s},'
    '"review":%s,%s"verdict":{"checkpoint_due":%s,"decision":%s,"delay_ms":%s,"findings":%s,'
    '"metrics":%s,"recommended_action":%s}%s}'
)
METRICS = (
    '{"budget_remaining":{"cost_usd":%s,"time_ms":%s,"tokens":%s,"tool_calls":%s},'
    '"budget_slope":%s,"budget_slope_significant":%s,"coherence":%s,"coherence_computed":%s,'
    '"coherence_level":%s,"coherence_parts":%s,"coherence_reported":%s,"coherence_source":%s,'
    '"not_evaluated":[%s],"rework_ratio":%s,"rework_ratio_total":%s,'
    '"steps_since_checkpoint":%s,"steps_until_checkpoint":%s,"uncertainty":%s,'
    '"uncertainty_computed":%s,"uncertainty_level":%s,"uncertainty_parts":%s,'
    '"uncertainty_reported":%s,"uncertainty_source":%s}'
)
COHERENCE_PARTS = '{"drift":%s,"rework":%s,"violations":%s}'
UNCERTAINTY_PARTS = '{"confidence":%s,"failed_calls":%s,"repeated":%s}'
POLICY = '{"hash":"sha256:%s","name":%s,"version":%s}'
# Parts of a score have commas between them, a policy is its hash, its version and its name,
# and a number in place of other fields before the verdict is `running_ms`. What often stands
# together is kept as one character, which no JSON text holds either.
COUNT = 48
USUAL = (
    ('\x1efalse\x1e"continue"\x1e0\x1e[]\x1e', "\x01"),
    ('\x1e"reported"\x1e', "\x02"),
    ('\x1e1\x1e"healthy"\x1e1,1,1\x1e', "\x03"),
    ('\x1e0\x1e"low"\x1enull,0,0\x1e', "\x04"),
    ("\x1e0\x1efalse\x1e", "\x05"),
    ('"Go on."\x1e', "\x06"),
)
_POLICY_AT, _FIELDS_AT, _VERDICT_AT, _METRICS_AT, _METRICS_END = 2, 18, 19, 23, 46
_COST_AT, _REWORK_AT, _SIGNATURE_AT, _SUMMARY_AT, _TOKENS_AT, _CALLS_AT = (
    6,
    *range(11, 16),
)
_DECISION_AT, _SLOPE_AT = 20, 27
_NOTHING_WRONG = ['"continue"', "0", "[]"]
_WRITTEN_POLICY = re.compile(
    r'\{"hash":"sha256:([0-9a-f]{64})","name":(".*"),"version":([0-9]+)\}'
)
_SHORT_POLICY = re.compile(r'([\w-]{43})([0-9]+)(".*")', re.ASCII)


def _leave_places(form: str) -> list[str]:
    """Its texts, and between them a place for each value."""
    texts = form.split("%s")
    spread = [""] * (2 * len(texts) - 1)
    spread[::2] = texts
    return spread


_METRICS_TEXTS, _STEP_TEXTS = _leave_places(METRICS), _leave_places(STEP)


class WrittenStep(NamedTuple):
    """The payload, the same as it is kept, and the texts of its verdict's fields by the order
    of their names."""

    text: str
    kept: str
    verdict: list[str]


def write_step(values: list[str]) -> WrittenStep:
    """Of its values as texts."""
    kept = STEP_MARK + SEPARATOR.join(values)
    for usual, sign in USUAL:
        kept = kept.replace(usual, sign)
    text = _fill_in(values)
    return WrittenStep(text, kept, values[_VERDICT_AT:-1])


def read_step(kept: str) -> str:
    """The payload; what nothing can be read from raises ValueError."""
    for usual, sign in USUAL:
        kept = kept.replace(sign, usual)
    try:
        return _fill_in(kept[len(STEP_MARK) :].split(SEPARATOR))
    except (TypeError, ValueError) as error:
        raise ValueError(f"a packed text is damaged: {error}") from None


class PlainStep(NamedTuple):
    """What is counted and searched of a step with which nothing was wrong; `running_ms` is
    None where no time of its run is kept. `summary` and `signature` are texts of JSON."""

    cost_micros: int
    rework: bool
    signature: str
    summary: str
    tokens: int
    tool_calls: int
    running_ms: int | None
    slope: float


def find_plain_step(kept: str) -> PlainStep | None:
    """Read from the values themselves, in a quarter of the time that the payload takes (bench
    steps); None where it has to be read as a whole."""
    for usual, sign in USUAL:
        kept = kept.replace(sign, usual)
    values = kept.split(SEPARATOR)
    if len(values) != COUNT or values[0] != STEP_MARK:
        return None  # another form, or fields that few steps have
    running = values[_FIELDS_AT]
    if values[_DECISION_AT : _DECISION_AT + 3] != _NOTHING_WRONG:
        return None
    if running and not running.isdecimal():
        return None
    return PlainStep(
        int(values[_COST_AT]),
        values[_REWORK_AT] == "true",
        values[_SIGNATURE_AT],
        values[_SUMMARY_AT],
        int(values[_TOKENS_AT]),
        int(values[_CALLS_AT]),
        int(running) if running else None,
        float(values[_SLOPE_AT]),
    )


def _fill_in(values: list[str]) -> str:
    """The payload. Of the values the metrics become one."""
    if len(values) != COUNT:
        raise ValueError(f"{len(values)} values")
    values[_POLICY_AT] = _expand_policy(values[_POLICY_AT])
    if values[_FIELDS_AT].isdecimal():
        values[_FIELDS_AT] = f'"running_ms":{values[_FIELDS_AT]},'
    metrics = values[_METRICS_AT:_METRICS_END]
    metrics[9] = _fill_in_parts(COHERENCE_PARTS, metrics[9])
    metrics[20] = _fill_in_parts(UNCERTAINTY_PARTS, metrics[20])
    values[_METRICS_AT:_METRICS_END] = [_join(_METRICS_TEXTS, metrics)]
    return _join(_STEP_TEXTS, values)


def _join(texts: list[str], values: list[str]) -> str:
    """As `%` does, in less time (bench batches)."""
    joined = texts[:]
    joined[1::2] = values
    return "".join(joined)


@lru_cache(maxsize=1_024)
def _fill_in_parts(text: str, parts: str) -> str:
    return parts if parts == "null" else text % tuple(parts.split(","))


@lru_cache(maxsize=256)
def shorten_policy(stamp: str) -> str:
    """Its stamp, as it stands among the values."""
    found = _WRITTEN_POLICY.fullmatch(stamp)
    if found is None:
        return stamp
    digest, name, version = found.groups()
    return f"{shorten_hash(digest)}{version}{name}"


@lru_cache(maxsize=256)
def _expand_policy(kept: str) -> str:
    found = _SHORT_POLICY.fullmatch(kept)
    if found is None:
        return kept
    digest, version, name = found.groups()
    return POLICY % (expand_hash(digest), name, version)
