"""Does the database take writes again? Asked after one has failed, and only then."""

from __future__ import annotations

import logging
import secrets
import threading
from functools import cache
from time import monotonic

from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from config.models import Heartbeat

# A row of a few bytes still fits on a full disk, where no run could be started.
BALLAST_BYTES = 192 * 1024
# Anybody may ask for readiness, as often as they like.
SECONDS_BETWEEN = 5.0

logger = logging.getLogger(__name__)


class Probe:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Another process has told of a failure: the next look at writes is to try one.
        self.wanted = False
        self._tried: float | None = None

    def succeeds(self) -> bool:
        """Write as much as real work would; not again right after a failure."""
        with self._lock:
            if self._tried is not None and monotonic() < self._tried + SECONDS_BETWEEN:
                return False
            try:
                _write(secrets.token_urlsafe(BALLAST_BYTES))
                _write("")
            except (DatabaseError, InterfaceError) as error:
                logger.warning("The database takes no writes: %s", error)
                self._tried = monotonic()
                return False
            self._tried = None
            return True


def _write(ballast: str) -> None:
    values = {"at": timezone.now(), "ballast": ballast}
    Heartbeat.objects.update_or_create(name=Heartbeat.PROBE, defaults=values)


@cache
def get_probe() -> Probe:
    """This process's."""
    return Probe()
