"""A network that can be cut: a TCP proxy between an agent and its server."""

from __future__ import annotations

import socket
import threading
from urllib.parse import urlsplit

from config.asgi import http
from config.fastpath.asgi import Receive, Scope, Send
from ledger.waiting.hub import close_hub


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Ours, to be served a second time in this process: it leaves the writer alone."""
    if scope["type"] == "http":
        await http(scope, receive, send)
        return
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await close_hub()
    await send({"type": "lifespan.shutdown.complete"})


class Network:
    """Whoever talks to `url` reaches the server, unless the wire is cut."""

    def __init__(self, server_url: str) -> None:
        self._target = _address(server_url)
        self._links: list[socket.socket] = []
        self._listener = self._listen(0)
        self._port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"

    def cut(self) -> None:
        """Nobody listens any more, and every open connection is torn."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for link in self._links:
            _tear(link)
        self._links.clear()

    def mend(self, server_url: str | None = None) -> None:
        """The same address again, to the same server or to another one."""
        if server_url is not None:
            self._target = _address(server_url)
        self._listener = self._listen(self._port)

    def _listen(self, port: int) -> socket.socket:
        listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return  # cut
            far = socket.create_connection(self._target)
            self._links += (near, far)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(
                    target=_pass_on, args=(source, sink), daemon=True
                ).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65_536):
            sink.sendall(data)
    except OSError:
        pass  # torn
    _tear(sink)
    _tear(source)


def _tear(link: socket.socket) -> None:
    try:
        link.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the other end was faster
    link.close()


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port
