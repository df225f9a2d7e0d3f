"""Stand-ins for the endpoints of the models: they say what a script tells them to.

The real coding agents run against them, so that what is tested is the agents' own way
with their hooks. A turn is a list of things to say: a text, or a use of a tool.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

Turn = Sequence[str | tuple[str, dict[str, Any]]]
# What the stand-in says a message cost, without what came from the cache.
TOKENS = 147
_numbers = count(1)


@dataclass
class Model:
    url: str = ""
    script: list[Turn] = field(default_factory=list)
    heard: list[dict[str, Any]] = field(default_factory=list)

    def next_turn(self) -> Turn:
        return self.script.pop(0) if self.script else ["All done."]

    @property
    def told(self) -> str:
        """All that the model was ever told, as one text."""
        return json.dumps(self.heard)

    def count_in_each(self, text: str) -> list[int]:
        """How often each request has it: all of them repeat what was said before."""
        quoted = json.dumps(text)[1:-1]
        return [json.dumps(request).count(quoted) for request in self.heard]


@contextmanager
def standing_in() -> Iterator[Model]:
    model = Model()

    class Handler(_Handler):
        standing = model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    standing: Model

    def log_message(self, *_words: object) -> None:
        """Silence: what matters is what was heard."""

    def do_GET(self) -> None:
        self._json({"data": [], "models": []})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = self.path.partition("?")[0]
        if path not in {"/v1/messages", "/v1/responses"}:
            self._json({"input_tokens": 1})
            return
        request = json.loads(raw)
        if not request.get("tools"):
            turn: Turn = ["ok"]  # a question aside, such as a title for the session
        else:
            self.standing.heard.append(request)
            turn = self.standing.next_turn()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        speak = self._messages if path == "/v1/messages" else self._responses
        speak(turn, request)

    def _json(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _event(self, kind: str, **fields: Any) -> None:
        data = json.dumps({"type": kind, **fields})
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())

    def _messages(self, turn: Turn, request: dict[str, Any]) -> None:
        usage = {
            "input_tokens": 100,
            "output_tokens": 1,
            "cache_creation_input_tokens": 5,
            "cache_read_input_tokens": 7,
        }
        message = {
            "id": f"msg_{next(_numbers):020}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        self._event("message_start", message=message)
        for index, part in enumerate(turn):
            block, delta = _block(part)
            self._event("content_block_start", index=index, content_block=block)
            self._event("content_block_delta", index=index, delta=delta)
            self._event("content_block_stop", index=index)
        uses = any(not isinstance(part, str) for part in turn)
        reason = "tool_use" if uses else "end_turn"
        self._event(
            "message_delta",
            delta={"stop_reason": reason, "stop_sequence": None},
            usage={"output_tokens": 42},
        )
        self._event("message_stop")

    def _responses(self, turn: Turn, _request: dict[str, Any]) -> None:
        code = f"resp_{next(_numbers)}"
        self._event("response.created", response={"id": code})
        for index, part in enumerate(turn):
            item = _item(part)
            self._event("response.output_item.done", output_index=index, item=item)
        usage = {
            "input_tokens": 105,
            "input_tokens_details": None,
            "output_tokens": 42,
            "output_tokens_details": None,
            "total_tokens": TOKENS,
        }
        self._event("response.completed", response={"id": code, "usage": usage})


def _block(part: str | tuple[str, dict[str, Any]]) -> tuple[Any, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": part}
    name, given = part
    code = f"toolu_{next(_numbers):020}"
    block = {"type": "tool_use", "id": code, "name": name, "input": {}}
    return block, {"type": "input_json_delta", "partial_json": json.dumps(given)}


def _item(part: str | tuple[str, dict[str, Any]]) -> dict[str, Any]:
    if isinstance(part, str):
        said = [{"type": "output_text", "text": part}]
        return {"type": "message", "role": "assistant", "content": said}
    name, given = part
    return {
        "type": "function_call",
        "call_id": f"call_{next(_numbers)}",
        "name": name,
        "arguments": json.dumps(given),
    }
