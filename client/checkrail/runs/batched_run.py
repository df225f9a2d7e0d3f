"""A run whose steps are sent many at a time, by a thread of its own."""

from __future__ import annotations

import atexit
import threading
from typing import Any

from checkrail.flows import batches
from checkrail.flows.lifecycle import send_backlog
from checkrail.flows.step_queue import send_steps_in_background
from checkrail.runs.run import BaseRun
from checkrail.transport.driver import Driver, make_method
from checkrail.transport.effects import Flow


class BatchedRun(BaseRun, batches.BatchedCore):
    """Steps are queued: fewer requests, but the gates answer late.

    A pause or a stop that was met on the way is obeyed, or raised, at the next call.
    Every call but `step` sends what is queued first.
    """

    step = make_method(batches.queue_step)
    flush = make_method(batches.flush)

    def __init__(self, driver: Driver, *, seconds: float, **more: Any) -> None:
        super().__init__(driver, **more)
        self._sender = Sender(self, seconds)
        self.wake = self._sender.wake

    def begin(self, beginning: Flow[Any]) -> None:
        super().begin(beginning)
        self._sender.start()

    def close(self) -> None:
        """Send what is queued, and leave the run as it is."""
        try:
            self.driver.drive(send_backlog(self))
        finally:
            self.disconnect()

    def disconnect(self) -> None:
        self._sender.stop()
        super().disconnect()


class Sender:
    """Sends when there is enough in the queue, or after a while."""

    def __init__(self, run: BatchedRun, seconds: float) -> None:
        self._run = run
        self._seconds = seconds
        self._awake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(
            target=self._send_forever, name="checkrail-steps", daemon=True
        )

    def start(self) -> None:
        self._thread.start()
        # A program that ends without closing the run still tells what it did.
        atexit.register(self._run.close)

    def wake(self) -> None:
        self._awake.set()

    def stop(self) -> None:
        atexit.unregister(self._run.close)
        self._stopping = True
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _send_forever(self) -> None:
        run = self._run
        while not self._stopping:
            self._awake.wait(self._seconds)
            self._awake.clear()
            if not run.backlog.steps or self._stopping:
                continue
            try:
                run.driver.drive(send_steps_in_background(run))
            except Exception as error:  # raised at the run's next call
                run.backlog.errors.append(error)
