"""A stand-in for a language model, so that the demo needs no key and talks to nobody.

It looks at calls by a few fixed rules, which is all that a demonstration needs, and refuses
every other question.
"""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "demo-stand-in"
_CALL = re.compile(r"call (\d) begins\n(.*)\n")
# What the first of these finds in a call is what is said of it.
_RULES = (
    (r"/dev/|no-preserve-root|s3://|DROP DATABASE", "deny", "It destroys too much."),
    (
        r"image prune",
        "allow",
        "Images that nobody uses can be pulled again from the registry.",
    ),
    (
        r"rm -rf releases/[\d.]+ && make release",
        "allow",
        "The folder is made again by the same command.",
    ),
    (
        r"DELETE FROM sessions$",
        "deny",
        "It would end sessions that have not expired, too.",
    ),
)
_DOUBT = ("ask", "What it removes is not named in the task, and may be needed.")


class DemoModel:
    """One model on this machine, for as long as the demo runs."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="demo-model", daemon=True
        )

    def start(self) -> dict[str, Any]:
        """Returns what the setting LLM has to be for it to be asked."""
        self._thread.start()
        return {
            "url": f"http://127.0.0.1:{self._server.server_port}/",
            "format": "openai",
            "model": NAME,
            "key": None,
            "timeout_s": 5,
            "prices": (0, 0),
        }

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        calls = _CALL.findall(asked["messages"][-1]["content"])
        if not calls:
            self._send(404, {"error": {"message": "The demo only looks at calls."}})
            return
        answers = [_look(int(number), json.loads(text)) for number, text in calls]
        message = {"role": "assistant", "content": json.dumps({"answers": answers})}
        self._send(
            200,
            {
                "model": NAME,
                "choices": [{"message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 0, "completion_tokens": 0},
            },
        )

    def _send(self, status: int, document: dict[str, Any]) -> None:
        raw = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the console is the demo's, and not the log of a stand-in."""


def _look(number: int, call: dict[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments") or {}
    text = str(call.get("command") or arguments.get("sql") or arguments)
    answer, reason = next(
        (
            (answer, reason)
            for pattern, answer, reason in _RULES
            if re.search(pattern, text)
        ),
        _DOUBT,
    )
    return {"index": number, "answer": answer, "reason": reason}
