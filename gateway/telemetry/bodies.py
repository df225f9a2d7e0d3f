"""From the bytes of a request to its spans, and the answer in the same encoding."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

from common.errors import TooLarge
from gateway.telemetry.errors import Unreadable
from gateway.telemetry.otlp_json import read_json, write_json
from gateway.telemetry.spans import Reading

INFLATED_LIMIT = 4 * 1_048_576
_GZIP = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    media_type: str
    read: Callable[[bytes], Reading]
    write: Callable[..., bytes]


def _read_protobuf(raw: bytes) -> Reading:
    # Late, here and below: its library takes longer to load than all of the others.
    from gateway.telemetry.protobuf import read_protobuf

    return read_protobuf(raw)


def _write_protobuf(*, refused: int, message: str) -> bytes:
    from gateway.telemetry.protobuf import write_protobuf

    return write_protobuf(refused=refused, message=message)


PROTOBUF = Encoding(
    media_type="application/x-protobuf", read=_read_protobuf, write=_write_protobuf
)
JSON = Encoding(media_type="application/json", read=read_json, write=write_json)


def get_encoding(content_type: str) -> Encoding:
    """The front has let in no third one."""
    media, _, _ = content_type.partition(";")
    return PROTOBUF if media.strip().lower() == PROTOBUF.media_type else JSON


def parse_spans(raw: bytes, *, encoding: Encoding, gzipped: bool) -> Reading:
    return encoding.read(_inflate(raw) if gzipped else raw)


def _inflate(raw: bytes) -> bytes:
    """A small body may stand for a huge one: never more than the cap is unpacked."""
    inflater = zlib.decompressobj(_GZIP)
    try:
        body = inflater.decompress(raw, INFLATED_LIMIT + 1)
    except zlib.error as error:
        raise Unreadable(f"Not gzip: {error}.") from None
    if len(body) > INFLATED_LIMIT:
        raise TooLarge(f"At most {INFLATED_LIMIT:,} bytes are taken, unpacked.")
    if not inflater.eof or inflater.unused_data:
        raise Unreadable("The gzip stream is cut off, or something follows it.")
    return body
