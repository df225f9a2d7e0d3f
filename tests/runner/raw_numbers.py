"""Forbids every template a raw float: 31.57894736842105 % is no figure for people.

A number is written where its unit and its places are known. The record itself, an entry of
the ledger as JSON, is marked safe by the code that shows it.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.template import base
from django.utils.safestring import SafeString

_RAW = re.compile(r"(?<![\w.])\d+\.\d{7,}(?![\w.])")


class RawNumber(AssertionError):
    """A number that nobody has formatted."""


def guard_templates(patch: pytest.MonkeyPatch) -> None:
    render = base.render_value_in_context

    def guarded(value: Any, context: Any) -> str:
        raw = isinstance(value, float) or (
            type(value) is str and len(value) < 200 and _RAW.search(value)
        )
        if raw and not isinstance(value, SafeString):
            raise RawNumber(f"format this before it is shown: {value!r}")
        shown: str = render(value, context)
        return shown

    patch.setattr(base, "render_value_in_context", guarded)
