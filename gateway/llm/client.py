"""One question, one answer that fits its schema, or LlmTrouble.

Everything has a bound: the time, the bytes read, the repetitions (one), the questions
under way. What the other side sends is data from a stranger: it is read strictly, and
none of it but a short redacted piece of an error message ever reaches a reason.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from ssl import SSLContext
from typing import Any, TypeVar

import httpx

from gateway.llm import wire
from gateway.llm.concurrency import Places
from gateway.llm.endpoint import Endpoint, get_endpoint
from gateway.llm.questions import LlmTrouble, Question, Reply, Spent
from guidance.core.arguments import ArgumentProblem, Schema, read_arguments
from guidance.redactor import clean

REPLY_LIMIT = 65_536
PIECE_LIMIT = 200
REPEAT_AFTER_S = 0.5
OFF = "no model is set up to be asked (CHECKRAIL_LLM_URL)"

under_way = Places(4)

logger = logging.getLogger(__name__)

T = TypeVar("T")


async def ask(question: Question, *, timeout_s: float | None = None) -> Reply:
    """The model's answer. At most twice the time-out passes: for a place, and for it. It
    is the endpoint's, or the shorter one that is given here."""
    endpoint = get_endpoint()
    if endpoint is None:
        raise LlmTrouble(OFF)
    if timeout_s is not None:
        shorter = min(timeout_s, endpoint.timeout_s)
        endpoint = replace(endpoint, timeout_s=shorter)
    schema = Schema(question.schema)
    exchange = _Exchange(endpoint=endpoint, question=question)
    attempt = None
    started = time.monotonic()
    try:
        async with under_way.take_one(within=endpoint.timeout_s):
            started = time.monotonic()
            attempt = await exchange.run()
    except TimeoutError:
        pass
    except Exception as error:
        attempt = _Attempt(trouble=_describe_failure(error))
    # Raised out here, so that no exception that knows the request hangs on to ours.
    if attempt is None:
        raise LlmTrouble(
            f"{under_way.count} questions are under way already, and none of them "
            f"ended within {endpoint.timeout_s:g} s"
        )
    if attempt.trouble is not None:
        raise LlmTrouble(attempt.trouble, spent=exchange.sum_spending())
    took = time.monotonic() - started
    try:
        return _read(exchange, schema, attempt.raw, duration_s=took)
    except LlmTrouble:
        raise
    except Exception as error:
        trouble = _describe_failure(error)
    raise LlmTrouble(trouble, spent=exchange.sum_spending())


async def ask_and_read(
    question: Question, read: Callable[[Reply], T], *, timeout_s: float | None = None
) -> T:
    """What `read` makes of the answer. Where it fails the answer is paid for all the
    same: LlmTrouble says what was spent."""
    reply = await ask(question, timeout_s=timeout_s)
    try:
        return read(reply)
    except Exception as error:
        logger.exception("Reading a model's answer failed")
        trouble = f"the answer could not be read: {type(error).__name__}"
    raise LlmTrouble(trouble, spent=reply.spent)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """What was received, or what went wrong and whether it is worth repeating."""

    raw: bytes = b""
    trouble: str | None = None
    repeat_after_s: float | None = None


@dataclass(kw_only=True)
class _Exchange:
    """The requests that one question takes, and what they cost.

    A request that was sent and brought no readable usage costs the most it may: an
    unknown cost is not none, whatever kind of reply came back.
    """

    endpoint: Endpoint
    question: Question
    unread: int = 0
    told: wire.Usage | None = None

    @cached_property
    def content(self) -> bytes:
        return json.dumps(wire.build_body(self.endpoint, self.question)).encode()

    async def run(self) -> _Attempt:
        endpoint = self.endpoint
        # In a thread: the first time it takes long enough for others to notice.
        certificates = await asyncio.to_thread(_load_certificates)
        ends = time.monotonic() + endpoint.timeout_s
        try:
            async with (
                asyncio.timeout(endpoint.timeout_s),
                httpx.AsyncClient(
                    headers=wire.build_headers(endpoint),
                    timeout=endpoint.timeout_s,
                    verify=certificates,
                    follow_redirects=False,
                    # Neither a proxy nor a .netrc comes between us and the address set.
                    trust_env=False,
                ) as client,
            ):
                attempt = await self._attempt(client)
                pause = attempt.repeat_after_s
                if pause is not None and time.monotonic() + pause < ends:
                    await asyncio.sleep(pause)
                    attempt = await self._attempt(client)
                return attempt
        except TimeoutError:
            return _Attempt(trouble=_describe_timeout(endpoint))

    async def _attempt(self, client: httpx.AsyncClient) -> _Attempt:
        endpoint = self.endpoint
        try:
            async with client.stream(
                "POST",
                endpoint.url,
                content=self.content,
                extensions={"trace": self._count_sent},
            ) as response:
                return await _receive(response, endpoint)
        except httpx.TimeoutException:
            return _Attempt(trouble=_describe_timeout(endpoint))
        except httpx.HTTPError as error:
            said = _clean_piece(str(error), endpoint) or type(error).__name__
            trouble = f"the connection failed: {said}"
            return _Attempt(trouble=trouble, repeat_after_s=REPEAT_AFTER_S)

    async def _count_sent(self, event: str, _: Mapping[str, Any]) -> None:
        """Called by httpx at each stage: while nobody is reached, nothing is asked."""
        if event.endswith(".send_request_headers.started"):
            self.unread += 1

    def take(self, usage: wire.Usage) -> None:
        """The last reply says what it took."""
        self.unread -= 1
        self.told = usage

    def sum_spending(self) -> Spent | None:
        """None where nothing was asked."""
        if not self.unread and self.told is None:
            return None
        # No token is shorter than a byte, and no answer has more than it may have.
        tokens_in = self.unread * len(self.content)
        tokens_out = self.unread * self.question.max_tokens
        if self.told is not None:
            tokens_in += self.told.tokens_in
            tokens_out += self.told.tokens_out
        cost = self.endpoint.compute_cost(tokens_in, tokens_out)
        return Spent(tokens_in=tokens_in, tokens_out=tokens_out, cost_micros=cost)


@lru_cache(maxsize=1)
def _load_certificates() -> SSLContext:
    """Read once; SSL_CERT_FILE names them, or else they are httpx's own."""
    return httpx.create_ssl_context()


def _describe_timeout(endpoint: Endpoint) -> str:
    return f"no answer within {endpoint.timeout_s:g} s"


def _describe_failure(error: Exception) -> str:
    """For a fault of our own: what was asked is paid for all the same."""
    logger.error("Asking a model failed", exc_info=error)
    return f"asking failed: {type(error).__name__}"


async def _receive(response: httpx.Response, endpoint: Endpoint) -> _Attempt:
    status = response.status_code
    if status == 429 or status >= 500:
        pause = response.headers.get("retry-after", "")
        return _Attempt(
            trouble=f"the server answered {status}",
            repeat_after_s=float(pause)
            if re.fullmatch(r"[0-9]{1,6}", pause)
            else REPEAT_AFTER_S,
        )
    if status in {401, 403}:
        return _Attempt(trouble=f"the server answered {status}: it refuses the key")
    if response.is_redirect:
        return _Attempt(trouble=f"the server answered {status}: redirects are refused")
    if status != 200:
        said = _clean_piece(
            _parse_complaint(await _read_bytes(response) or b""), endpoint
        )
        return _Attempt(
            trouble=f"the server answered {status}" + (f": {said}" if said else "")
        )
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return _Attempt(trouble="the reply is not application/json")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        return _Attempt(trouble="the reply is compressed, which was not asked for")
    raw = await _read_bytes(response)
    if raw is None:
        return _Attempt(trouble=f"the reply is longer than {REPLY_LIMIT:,} bytes")
    return _Attempt(raw=raw)


async def _read_bytes(response: httpx.Response) -> bytes | None:
    """None if there are too many; the rest of them is never received."""
    received = bytearray()
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > REPLY_LIMIT:
            return None
    return bytes(received)


def _parse_complaint(raw: bytes) -> str:
    """`error.message`: where both formats say what they would not take."""
    document = read_arguments(raw.decode("utf-8", "replace"))
    if isinstance(document, ArgumentProblem):
        return ""
    error = document.values.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return message if isinstance(message, str) else ""


def _clean_piece(text: str, endpoint: Endpoint) -> str:
    """One line, short, without secrets and above all without the key."""
    if endpoint.key is not None:
        text = text.replace(endpoint.key, "(the key)")
    line = " ".join(clean(text).split())
    return line if len(line) <= PIECE_LIMIT else line[: PIECE_LIMIT - 1] + "…"


def _read(
    exchange: _Exchange, schema: Schema, raw: bytes, *, duration_s: float
) -> Reply:
    endpoint = exchange.endpoint
    # A byte that is no UTF-8 becomes half of a surrogate pair, which is refused below.
    envelope = read_arguments(raw.decode("utf-8", "surrogateescape"))
    if isinstance(envelope, ArgumentProblem):
        trouble = f"the reply cannot be read: {envelope.message}"
        raise LlmTrouble(trouble, spent=exchange.sum_spending())
    try:
        exchange.take(wire.read_usage(endpoint, envelope.values))
        said = wire.read(endpoint, envelope.values)
    except wire.Unreadable as error:
        raise LlmTrouble(str(error), spent=exchange.sum_spending()) from None
    spent = exchange.sum_spending()
    assert spent is not None  # the reply has told its usage
    if said.trouble is not None:
        raise LlmTrouble(said.trouble, spent=spent)
    answer = read_arguments(said.text)
    if isinstance(answer, ArgumentProblem):
        raise LlmTrouble(f"the answer cannot be read: {answer.message}", spent=spent)
    problems = schema.list_problems(answer.values)
    if problems:
        where = _clean_piece(
            f"{problems[0].path or '/'}: {problems[0].message}", endpoint
        )
        raise LlmTrouble(f"the answer has another form, at {where}", spent=spent)
    return Reply(
        document=answer.values,
        spent=spent,
        model=_clean_piece(said.model, endpoint),
        duration_s=duration_s,
    )
