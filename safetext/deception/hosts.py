"""Host names with letters beyond ASCII have two forms: the read one and the sent one."""

from __future__ import annotations

import unicodedata

_CODED = "xn--"
# Longer labels are no host's, and coding them takes time that grows with its square.
_LABEL = 63
_NAME = 253


def get_other_form(host: str) -> str:
    """The sent form of a name that can be read, the read form of a coded one.

    Empty where there is no other form, and for what is no host's name.
    """
    if len(host) > _NAME or "." not in host:
        return ""
    labels = host.split(".")
    if any(label.lower().startswith(_CODED) for label in labels):
        return ".".join(map(_decode_label, labels))
    if host.isascii() or not (labels[-1].isalpha() and len(labels[-1]) > 1):
        return ""
    sent = ".".join(map(_encode_label, labels))
    return sent if sent.isascii() else ""


def _decode_label(label: str) -> str:
    if not label.lower().startswith(_CODED) or len(label) > _LABEL:
        return label
    try:
        return label[len(_CODED) :].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError, OverflowError):
        return label


def _encode_label(label: str) -> str:
    if label.isascii() or len(label) > _LABEL:
        return label
    try:
        plain = unicodedata.normalize("NFKC", label).lower()
        return _CODED + plain.encode("punycode").decode("ascii")
    except (UnicodeError, ValueError, OverflowError):
        return label
