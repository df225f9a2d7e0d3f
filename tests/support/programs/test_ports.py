"""A reserved port is one server's, as often as it starts, and nobody else's."""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack

import pytest

from tests.support.programs.ports import HOST, reserve_port

pytestmark = [
    pytest.mark.once("uses no database"),
    pytest.mark.skipif(
        sys.platform != "linux", reason="Ports are kept on Linux alone."
    ),
]


def test_a_server_listens_there_again_and_again() -> None:
    with reserve_port() as port:
        for _ in range(3):
            with (
                socket.create_server((HOST, port)) as server,
                socket.create_connection((HOST, port), timeout=60) as caller,
                server.accept()[0] as taken,
            ):
                caller.sendall(b"x")
                assert taken.recv(1) == b"x"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, port))


def test_nobody_else_is_given_it_while_no_server_is_there() -> None:
    """Also not who would share an address."""
    with reserve_port() as port, ExitStack() as stack:
        options = socket.SOL_SOCKET, socket.SO_REUSEADDR
        given = []
        for number in range(200):
            other = stack.enter_context(socket.socket())
            other.setsockopt(*options, number % 2)
            other.bind((HOST, 0))
            given.append(other.getsockname()[1])
        assert port not in given
        with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
            stranger.bind((HOST, port))
