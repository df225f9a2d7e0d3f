"""Which codings of an answer's body a client takes."""

from __future__ import annotations

import re

# A weight of nothing, as in `gzip;q=0`, refuses a coding.
_REFUSED = re.compile(r"q=0(?:\.0{0,3})?")


def accepts_gzip(header: str) -> bool:
    """Whether this `Accept-Encoding` takes gzip; a name of its own counts before `*`."""
    weights = dict(_split_coding(part) for part in header.lower().split(","))
    found = weights.get("gzip", weights.get("*"))
    return found is not None and not _REFUSED.fullmatch(found)


def _split_coding(part: str) -> tuple[str, str]:
    coding, _, weight = part.partition(";")
    return coding.strip(), weight.strip()
