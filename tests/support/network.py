"""A network that can be cut: a TCP proxy between a client and the server."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, suppress
from types import TracebackType
from urllib.parse import urlsplit

from tests.support.programs.ports import reserve_port


class Network:
    """Whoever talks to `url` reaches the server, unless the wire is cut."""

    def __init__(self, server_url: str) -> None:
        self._target = _parse_address(server_url)
        self._links: list[socket.socket] = []
        self.connections = 0
        self._place = ExitStack()
        self._port = self._place.enter_context(reserve_port())
        self._listener = self._listen(self._port)
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Network:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.cut()
        self._place.close()

    def cut(self) -> None:
        """Nobody listens any more, and every open connection is torn."""
        _tear(self._listener)
        while self._links:
            _tear(self._links.pop())

    def mend(self, server_url: str | None = None) -> None:
        """The same address again, to the same server or to another one."""
        if server_url is not None:
            self._target = _parse_address(server_url)
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
            self.connections += 1
            far = socket.create_connection(self._target)
            self._links += (near, far)
            for source, sink in ((near, far), (far, near)):
                threading.Thread(
                    target=_pass_on, args=(source, sink), daemon=True
                ).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):  # torn
        while data := source.recv(65_536):
            sink.sendall(data)
    _tear(sink)
    _tear(source)


def _tear(link: socket.socket) -> None:
    with suppress(OSError):  # the other end was faster
        link.shutdown(socket.SHUT_RDWR)
    link.close()


def _parse_address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port
