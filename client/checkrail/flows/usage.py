"""Tokens by kind, read from what model libraries give: their own types are not needed.

Known are the usage of Anthropic's messages, of OpenAI's chat completions and responses, of
OpenAI's Agents SDK, of LangChain's messages and of Gemini, as objects or as plain JSON; and
the whole responses that hold one, which also name their model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_FORMS = (
    "the usage of Anthropic, OpenAI, LangChain or Gemini, a response that holds one, "
    "checkrail.Usage, or a list of these"
)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one request to a model used: each token is counted once, by its price.

    `output_tokens` has what a model thinks as well as what it says.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    model: str = ""

    @property
    def tokens(self) -> int:
        return (
            self.input_tokens
            + self.output_tokens
            + self.cached_input_tokens
            + self.cache_write_tokens
        )


def read_usage(source: object) -> tuple[Usage, ...]:
    """What was used, of one request or of several; TypeError where it cannot be read."""
    if isinstance(source, Usage):
        return (source,)
    if isinstance(source, (list, tuple)):
        return tuple(usage for each in source for usage in read_usage(each))
    model = _find_model(source)
    for name in ("usage", "usage_metadata"):
        counts = _get(source, name)
        if counts is not None:
            return (_read_counts(counts, model),)
    return (_read_counts(source, model),)


def _read_counts(counts: object, model: str) -> Usage:
    if _has(counts, "prompt_tokens"):  # chat completions
        details = _get(counts, "prompt_tokens_details")
        return _build_usage(
            whole=_count(counts, "prompt_tokens"),
            cached=_count(details, "cached_tokens"),
            written=_count(details, "cache_write_tokens"),
            output=_count(counts, "completion_tokens"),
            model=model,
        )
    if _has(counts, "cache_read_input_tokens") or _has(
        counts, "cache_creation_input_tokens"
    ):  # Anthropic's messages: what came from a cache is not in their input
        return Usage(
            input_tokens=_count(counts, "input_tokens"),
            cached_input_tokens=_count(counts, "cache_read_input_tokens"),
            cache_write_tokens=_count(counts, "cache_creation_input_tokens"),
            output_tokens=_count(counts, "output_tokens"),
            model=model,
        )
    if _has(counts, "input_tokens"):  # responses, the Agents SDK, LangChain
        details = _get(counts, "input_tokens_details")
        if details is None:
            details = _get(counts, "input_token_details")
        return _build_usage(
            whole=_count(counts, "input_tokens"),
            cached=_count(details, "cached_tokens") or _count(details, "cache_read"),
            written=_count_written(details),
            output=_count(counts, "output_tokens"),
            model=model,
        )
    if _has(counts, "prompt_token_count"):  # Gemini, which counts thoughts apart
        return _build_usage(
            whole=_count(counts, "prompt_token_count"),
            cached=_count(counts, "cached_content_token_count"),
            written=0,
            output=_count(counts, "candidates_token_count")
            + _count(counts, "thoughts_token_count"),
            model=model,
        )
    raise TypeError(f"{type(counts).__name__} is no usage that is known: {_FORMS}.")


def _build_usage(
    *, whole: int, cached: int, written: int, output: int, model: str
) -> Usage:
    """Where the whole input has in it what a cache gave and took."""
    return Usage(
        input_tokens=max(0, whole - cached - written),
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
        model=model,
    )


def _count_written(details: object) -> int:
    """LangChain tells either the sum, or one figure for each time a cache may live."""
    whole = _count(details, "cache_write_tokens") or _count(details, "cache_creation")
    return whole or sum(
        _count(details, f"ephemeral_{time}_input_tokens") for time in ("5m", "1h")
    )


def _find_model(source: object) -> str:
    """A response names it; of LangChain's messages their metadata does."""
    metadata = _get(source, "response_metadata")
    names = (
        _get(source, "model"),
        _get(metadata, "model_name"),
        _get(metadata, "model"),
        _get(source, "model_version"),
    )
    return next((name for name in names if isinstance(name, str) and name), "")


def _get(source: object, name: str) -> Any:
    if isinstance(source, Mapping):
        return source.get(name)
    return getattr(source, name, None)


def _has(source: object, name: str) -> bool:
    return name in source if isinstance(source, Mapping) else hasattr(source, name)


def _count(source: object, name: str) -> int:
    """What is left out, or null, is none."""
    value = _get(source, name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"{name}: {value!r} is no number of tokens.")
    return value
