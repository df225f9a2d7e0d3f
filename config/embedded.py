"""The one-process profile: web server, Celery worker and beat on SQLite."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Self

import uvicorn
import uvloop
from celery.beat import Scheduler, Service
from celery.worker import WorkController
from django.db import connection

from config.asgi import application
from config.celery import app as celery_app
from config.database.file_lock import hold_database_file
from config.health.tasks import heartbeat
from config.server.http_protocol import TimedProtocol
from config.server.supervision import Supervised, Work
from guidance.own_server import note_listener
from webhooks.delivery.worker import stop_delivering

STOP_SECONDS = 10.0
SOCKET_FRAME_LIMIT = 65_536

logger = logging.getLogger(__name__)


class PortTaken(Exception):
    """Somebody else listens there."""


class BackgroundEnded(Exception):
    """Worker or beat cannot be kept up: without them nothing expires or is sent."""


class Embedded:
    """Use as a context: file and port are ours inside it, and settled after it."""

    def __init__(self, *, host: str, port: int) -> None:
        self._config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,
            lifespan="on",
            loop="uvloop",
            http=TimedProtocol,
            ws="websockets-sansio",
            ws_max_size=SOCKET_FRAME_LIMIT,
            ws_per_message_deflate=True,
            server_header=False,
            # uvicorn would believe loopback; config.server.proxies knows whom to believe.
            proxy_headers=False,
            timeout_graceful_shutdown=3,
        )
        self._host = host
        self._port = port
        self._listener: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._background: list[Supervised] = []
        self._ended: str | None = None

    def __enter__(self) -> Self:
        hold_database_file()
        self._listener = open_listener(self._host, self._port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop_background()
        write_checkpoint()
        if self._listener is not None:
            self._listener.close()

    def serve(self, *, ready: Callable[[str], None]) -> None:
        """Serve until a signal comes; `ready` is told the local URL once it answers."""
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self._serve(ready))

    async def _serve(self, ready: Callable[[str], None]) -> None:
        assert self._listener is not None
        server = uvicorn.Server(self._config)
        announcing = asyncio.create_task(self._announce(server, ready))
        # Without background work nothing would expire or be sent: better no server.
        announcing.add_done_callback(lambda task: self._stop_if_failed(server, task))
        self._server = server
        try:
            await server.serve(sockets=[self._listener])
        finally:
            announcing.cancel()
        if announcing.done():
            announcing.result()
        if self._ended is not None:
            raise BackgroundEnded(self._ended)

    def _end(self, reason: str) -> None:
        """Called on the thread of what has ended."""
        logger.critical("%s. The server stops.", reason)
        self._ended = reason
        assert self._server is not None
        self._server.should_exit = True

    @staticmethod
    def _stop_if_failed(server: uvicorn.Server, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            server.should_exit = True

    async def _announce(
        self, server: uvicorn.Server, ready: Callable[[str], None]
    ) -> None:
        while not server.started:
            await asyncio.sleep(0.01)
        assert self._listener is not None
        host, port = self._listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        note_listener(host, port)
        # Celery opens connections and must not do so on the event loop.
        await asyncio.to_thread(self._start_background)
        ready(f"http://{shown}:{port}")

    def _start_background(self) -> None:
        for name, build in (("worker", _build_worker), ("beat", _build_beat)):
            self._background.append(Supervised(name, build, self._end))
        heartbeat.delay()

    def _stop_background(self) -> None:
        stop_delivering()
        for work in reversed(self._background):
            work.stop(within=STOP_SECONDS)


class _Worker(WorkController):
    def start(self) -> None:
        """Raises what ends it, which Celery's own would log and keep to itself."""
        try:
            assert self.blueprint is not None
            self.blueprint.start(self)
        except BaseException:
            self.stop(exitcode=1)
            raise


def _build_worker() -> Work:
    return _Worker(
        app=celery_app,
        pool_cls="threads",
        concurrency=3,
        without_heartbeat=True,
        without_mingle=True,
        without_gossip=True,
        loglevel=logging.WARNING,
    )


def _build_beat() -> Work:
    return Service(
        celery_app,
        max_interval=5,
        # Nothing to remember between starts: every task looks for what is due.
        scheduler_cls=Scheduler,
    )


def open_listener(host: str, port: int) -> socket.socket:
    """A bound socket, taken before anything else is done, so that a taken port costs
    nobody a wait."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except OSError as error:
        taken.close()
        raise PortTaken(
            f"{host}:{port} cannot be used ({error.strerror}). "
            "Choose another port with --port or CHECKRAIL_PORT."
        ) from None
    return taken


def find_integrity_fault() -> str | None:
    """What SQLite finds wrong with its own file, if anything."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA quick_check(1)")
        answer = cursor.fetchone()[0]
    return None if answer == "ok" else str(answer)


def write_checkpoint() -> None:
    """Fold the write-ahead log into the database file."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.fetchall()
    connection.close()
