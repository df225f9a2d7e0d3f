"""Ports for servers that must be told one before they listen."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

HOST = "127.0.0.1"


@contextmanager
def reserve_port() -> Iterator[int]:
    """A port that the system gives nobody else until the block ends, also while no server
    is there. A server that sets SO_REUSEADDR, as all of ours do, listens at it all the
    same: the socket that holds it does not listen."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((HOST, 0))
        port = int(holder.getsockname()[1])
        if sys.platform != "linux":
            holder.close()  # elsewhere two sockets cannot have one address
        yield port
