"""A stand-in for a language model beside a test that blocks: it has a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.gateway.llm.models import Behaviour, Model, model, says


@contextmanager
def thinking(wire: str, *behaviours: Behaviour, **more: Any) -> Iterator[Model]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="stand-in", daemon=True)
    thread.start()
    context = model(wire, *behaviours, **more)
    stand_in = asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result()
    try:
        yield stand_in
    finally:
        leave = context.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(leave, loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def wants(wire: str, action: str = "do_nothing", **more: Any) -> Behaviour:
    """A model that answers in the right form."""
    answer = {"action": action, "kind": "", "parameters": "", "reasoning": "so", **more}
    return says(wire, json.dumps(answer))
