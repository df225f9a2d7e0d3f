"""The guard's own server: the port that it listens at, and the name it has for others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# Every way to say "this machine": names, short forms, whole numbers, IPv6.
_LOOPBACK = (
    r"(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|0x7f[0-9a-f]{6}|2130706433|0177(?:\.\d+){1,3}"
    r"|0(?:\.0){0,3}|\[(?:::1?|(?:0+:){7}0*1|::ffff:127(?:\.\d+){3}|::ffff:7f00:1)\]"
)

# They only hide a word from us, not from a shell.
_HIDING = "\"'\\"


@dataclass(frozen=True, slots=True)
class OwnServer:
    """`host` and `public_port` are what others reach it by, where that is set."""

    port: int = 8000
    host: str = ""
    public_port: int = 0

    def is_port(self, word: str) -> bool:
        """`8000`, `8000/tcp`, `:8000`, `tcp:8000`."""
        return _read_port(self.port).fullmatch(word) is not None

    def is_named_in(self, text: str) -> bool:
        """Does a text that looks for a process name the port?"""
        return _find_port(self.port).search(text) is not None

    def is_addressed(self, text: str) -> bool:
        """Is there an address under its name, or of one of its pages on this machine?

        What else is asked of a port of this machine may be asked of one's own program.
        """
        return _find_address(self).search(text) is not None

    def may_be_meant(self, text: str) -> bool:
        """Quickly: does a text name its port or its host, as a shell reads it?"""
        for sign in _HIDING:
            text = text.replace(sign, "")
        return str(self.port) in text or bool(self.host and self.host in text.lower())

    def to_facts(self) -> dict[str, Any]:
        """List what differs from the usual server, for the entry of a decision."""
        given = {name: getattr(self, name) for name in self.__slots__}
        facts = {
            name: value
            for name, value in given.items()
            if value != getattr(USUAL_SERVER, name)
        }
        return {"server": facts} if facts else {}

    @classmethod
    def from_facts(cls, payload: Mapping[str, Any]) -> OwnServer:
        """Read the server of the time when the decision was made, from its entry."""
        facts = payload.get("server")
        return cls(**facts) if facts else USUAL_SERVER


# As it is where nothing was set.
USUAL_SERVER = OwnServer()


@lru_cache(maxsize=16)
def _read_port(port: int) -> re.Pattern[str]:
    return re.compile(rf"(?:.*[:=])?{port}(?:/tcp)?")


@lru_cache(maxsize=16)
def _find_port(port: int) -> re.Pattern[str]:
    return re.compile(rf"[: =]{port}\b")


@lru_cache(maxsize=16)
def _find_address(server: OwnServer) -> re.Pattern[str]:
    here = rf"(?:{_LOOPBACK}):{server.port}/(?:p|reviews|queue)/"
    if server.host:
        # Its usual port need not be said.
        port = rf"(?::{server.public_port})"
        port += "?" if server.public_port in (80, 443) else ""
        here += rf"|{re.escape(server.host)}(?:{port}|:{server.port})(?![\w.:])"
    return re.compile(
        rf"(?:https?://(?:[^@/\s]{{0,200}}@)?|(?<![\w.:/@-]))(?:{here})",
        re.IGNORECASE,
    )
