"""The open connections of one event loop: how many, from which addresses, who waits.

At the limit nobody new is turned away as long as somebody keeps us waiting: whoever has
done so longest is closed. So a thousand requests that never become whole leave room for
one that does, even from the same address. Only where every connection is being answered,
the new one is told to come back later.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import resource
from functools import lru_cache
from typing import Protocol

from django.conf import settings

from ledger.waiting.per_loop import PerLoop

# Besides connections: databases, the broker, listening sockets, logs.
RESERVED_FILES = 256
LEAST = 16
CHECK_SECONDS = 0.5
# So many are checked before others have their turn (bench waiting).
CHECKED_AT_ONCE = 100
WARN_SECONDS = 60.0
# So many that made room may still be sending their last bytes: fewer than are reserved.
CLOSING_LIMIT = 64

logger = logging.getLogger(__name__)


class Connection(Protocol):
    def check(self, now: float) -> None: ...

    def evict(self) -> None: ...

    def abort(self) -> None: ...


class Group:
    """Some connections; among those that wait, the longest comes first."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.members: set[Connection] = set()
        self.waiting: dict[Connection, None] = {}


class Connections:
    """Lives on one event loop; get it with `connections()`."""

    def __init__(self) -> None:
        wanted: int = settings.CONNECTIONS
        files = _allow_files(wanted + RESERVED_FILES)
        self.limit = max(LEAST, min(wanted, files - RESERVED_FILES))
        # Half at most: one address alone never takes all of them.
        self.address_limit = min(settings.ADDRESS_CONNECTIONS, self.limit // 2)
        self._loop = asyncio.get_running_loop()
        self._all = Group("")
        self._by_address: dict[str, Group] = {}
        self._group_of: dict[Connection, Group] = {}
        self._closing: dict[Connection, None] = {}
        self._checking = False
        self._warned = -WARN_SECONDS

    def add(self, connection: Connection, client: tuple[str, int] | None) -> bool:
        """False when it is one too many. `client` is the socket's own peer."""
        name = _get_address_name(client[0]) if client else ""
        group = self._by_address.setdefault(name, Group(name))
        self._group_of[connection] = group
        for each in (group, self._all):
            each.members.add(connection)
            each.waiting[connection] = None
        if not self._checking:
            self._checking = True
            self._loop.call_later(CHECK_SECONDS, self._check)
        if len(group.members) > self.address_limit and not _is_proxy(name):
            return self._make_room(group, connection)
        if len(self._all.members) > self.limit:
            return self._make_room(self._all, connection)
        return True

    def remove(self, connection: Connection) -> None:
        self._closing.pop(connection, None)
        group = self._group_of.pop(connection, None)
        if group is None:
            return
        for each in (group, self._all):
            each.members.discard(connection)
            each.waiting.pop(connection, None)
        if not group.members:
            self._by_address.pop(group.name, None)

    def set_waiting(self, connection: Connection, waiting: bool) -> None:
        """Whether it keeps us waiting, from now on."""
        group = self._group_of.get(connection)
        if group is None:
            return
        # Asked twice for each step: without a loop it costs half as much (bench steps).
        own, every = group.waiting, self._all.waiting
        own.pop(connection, None)
        every.pop(connection, None)
        if waiting:
            own[connection] = every[connection] = None

    def _make_room(self, group: Group, newest: Connection) -> bool:
        self._warn(group)
        longest = next((one for one in group.waiting if one is not newest), None)
        if longest is None:
            # It hears that it is one too many, and takes nobody's place until then.
            self._set_closing(newest)
            return False
        try:
            longest.evict()
        except Exception:
            logger.exception("A connection could not be closed")
            longest.abort()
        self._set_closing(longest)
        return True

    def _set_closing(self, connection: Connection) -> None:
        """It may send what is written for it, but not hold a file for ever."""
        self.remove(connection)
        self._closing[connection] = None
        if len(self._closing) > CLOSING_LIMIT:
            oldest = next(iter(self._closing))
            self.remove(oldest)
            oldest.abort()

    def _warn(self, group: Group) -> None:
        now = self._loop.time()
        if now - self._warned >= WARN_SECONDS:
            self._warned = now
            count = len(group.members) - 1
            whence = f" from {group.name}" if group.name else ""
            logger.warning("The limit of %d connections%s is reached", count, whence)

    def _check(self) -> None:
        self._check_some([*self._all.members, *self._closing])

    def _check_some(self, connections: list[Connection]) -> None:
        """A few at a time: there may be thousands."""
        now = self._loop.time()
        some = connections[-CHECKED_AT_ONCE:]
        del connections[-CHECKED_AT_ONCE:]
        for connection in some:
            if connection in self._group_of or connection in self._closing:
                self._check_one(connection, now)
        if connections:
            self._loop.call_soon(self._check_some, connections)
            return
        self._checking = bool(self._all.members or self._closing)
        if self._checking:
            self._loop.call_later(CHECK_SECONDS, self._check)

    def _check_one(self, connection: Connection, now: float) -> None:
        try:
            connection.check(now)
        except Exception:
            # Without deadlines it would stay for ever.
            logger.exception("A connection could not be checked")
            connection.abort()


@lru_cache(maxsize=10_000)
def _get_address_name(host: str) -> str:
    """The address; of IPv6 the network of 64 bits, which one subscriber has."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((int(address), 64), strict=False))
    return str(address)


def _is_proxy(name: str) -> bool:
    """Behind it are many, of whom it has to keep count itself."""
    try:
        network = ipaddress.ip_network(name)
    except ValueError:
        return not name  # a Unix socket: only a proxy of this machine reaches it
    proxies = map(ipaddress.ip_network, settings.PROXIES)
    return any(
        proxy.version == network.version and proxy.overlaps(network)
        for proxy in proxies
    )


def _allow_files(wanted: int) -> int:
    """How many files this process may open, after asking for as many as are wanted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


_connections = PerLoop(Connections)


def get_connections() -> Connections:
    """Those of the running event loop."""
    return _connections.get()
