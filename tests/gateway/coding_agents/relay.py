"""A wire between a client and the server that a test can cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

from tests.support.live import Live


class Relay:
    """Listens at `url`; `cut` ends every connection and refuses new ones."""

    def __init__(self, live: Live) -> None:
        target = urlsplit(live.url)
        self._target = (target.hostname or "", target.port or 80)
        self._links: list[socket.socket] = []
        self._listener = self._listen(0)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.connections = 0

    def cut(self) -> None:
        self._close(self._listener)
        while self._links:
            self._close(self._links.pop())

    def mend(self) -> None:
        self._listener = self._listen(self.port)

    def _listen(self, port: int) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen()
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # closed by `cut`
            while True:
                near, _ = listener.accept()
                self.connections += 1
                far = socket.create_connection(self._target)
                self._links += (near, far)
                for one, other in ((near, far), (far, near)):
                    threading.Thread(
                        target=self._pump, args=(one, other), daemon=True
                    ).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(65_536):
                other.sendall(data)
        self._close(other)

    @staticmethod
    def _close(link: socket.socket) -> None:
        with suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)
        link.close()


@contextmanager
def relayed(live: Live) -> Iterator[Relay]:
    relay = Relay(live)
    try:
        yield relay
    finally:
        relay.cut()
