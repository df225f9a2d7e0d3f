"""How many requests one key may send: no key takes the server away from the others.

Each process counts for itself, in memory: a request over the rate costs no query and its
body is not read. With several processes a key may send as much to each of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable

from accounts.auth import AgentPrincipal, Principal
from common.errors import RateLimited

# After a pause a key may send at once what it could have sent in this many seconds.
BURST_SECONDS = 5


class KeyRate:
    """A token bucket for each key, kept as the time at which it will be full again."""

    def __init__(
        self, *, per_second: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.per_second = per_second
        self._clock = clock
        # Only keys that are known to be good come here: there are never many.
        self._full_at: dict[Hashable, float] = {}

    def check(self, principal: Principal) -> None:
        """Count one request of this key; refuse it where there are too many."""
        seconds = self.wait_for(_get_key(principal))
        if seconds:
            noun = "request" if self.per_second == 1 else "requests"
            raise RateLimited(
                f"This key may send {self.per_second:,} {noun} a second. "
                "Wait as long as Retry-After says, then send it again.",
                retry_after=math.ceil(seconds),
            )

    def wait_for(self, key: Hashable) -> float:
        """0 and counted, or the seconds after which the next request is taken."""
        if not self.per_second:
            return 0
        full_at, over = self._measure(key)
        if over:
            return over
        self._full_at[key] = full_at
        return 0

    def is_over(self, principal: Principal) -> bool:
        """Whether the next request of this key is refused; nothing is counted."""
        return bool(self.per_second and self._measure(_get_key(principal))[1])

    def _measure(self, key: Hashable) -> tuple[float, float]:
        """When it is full again after one more, and by how many seconds that is too many."""
        now = self._clock()
        full_at = max(self._full_at.get(key, now), now) + 1 / self.per_second
        # Compared with some slack: sums of fractions are not exact.
        over = full_at - now - BURST_SECONDS
        return full_at, over if over > 1e-6 else 0.0


def _get_key(principal: Principal) -> tuple[str, int | None]:
    if isinstance(principal, AgentPrincipal):
        return "agent", principal.key_id
    return "person", principal.token_id
