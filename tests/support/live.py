"""A real server for tests: uvicorn on a free port, in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
import uvloop
from django.conf import settings

from config.fastpath.asgi import App
from tests.support.checked_answers import CheckedProtocol, check_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    url: str

    @property
    def api(self) -> str:
        return f"{self.url}/api/v1"


@contextmanager
def serve(application: App, *, send_buffer: int | None = None) -> Iterator[Live]:
    """Serve the application, lifespan included, until the block ends.

    Its answers are checked against the API's document.
    """
    with socket.socket() as listener:
        if send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(
            uvicorn.Config(
                check_answers(application),
                log_config=None,
                access_log=False,
                lifespan="on",
                http=CheckedProtocol,
                ws="websockets-sansio",
                ws_max_size=65_536,
                ws_per_message_deflate=True,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=1,
                # Longer than httpx keeps a connection: none is closed while it is used.
                timeout_keep_alive=60,
            )
        )
        if not settings.EMBEDDED:
            settings.ORIGINS.append(url)
            settings.CSRF_TRUSTED_ORIGINS = settings.ORIGINS

        def run() -> None:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(server.serve(sockets=[listener]))

        thread = threading.Thread(target=run, name="live-server", daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("The server did not start; see the log above.")
            thread.join(0.01)
        try:
            yield Live(url=url)
        finally:
            server.should_exit = True
            thread.join(timeout=15)
