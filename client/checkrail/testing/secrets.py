"""Secrets in a checkpoint's state, as the server refuses them.

The server knows far more forms. These are enough to notice in a test that a state holds
what it must not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from checkrail.testing.fakes import Refusal
from checkrail.testing.shapes import Json

Place = tuple[Any, ...]

_FORMS = re.compile(
    r"AKIA[0-9A-Z]{16}"
    r"|gh[pousr]_[0-9A-Za-z]{36}"
    r"|cr[kt]_[0-9A-Za-z_-]{20,}"
    r"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|://[^\s/:@]+:[^\s/@$]{6,}@"
    r"|(?:API_KEY|TOKEN|SECRET|PASSWORD)=[^\s$]{8,}"
)
_NAMES = re.compile(r"(?i)^(?:.*[_-])?(?:password|passwd|secret|token|api_?key)$")
# A value that is no word and no reference such as ${NAME} or vault:path.
_RANDOM = re.compile(r"(?=.*[0-9])[0-9A-Za-z+/=_.!-]{8,}")


def refuse_secrets(state: Json) -> None:
    places = list(dict.fromkeys(_find_places(state, ("state",), name="")))
    if places:
        raise Refusal(
            "invalid",
            422,
            "The state holds a secret. A state is given back as it was saved, so nothing "
            "in it is hidden: save where the secret is found instead, such as the name "
            "of an environment variable.",
            errors=[{"loc": list(place), "message": "a secret"} for place in places],
        )


def _find_places(value: Any, place: Place, *, name: str) -> Iterator[Place]:
    if isinstance(value, dict):
        for key, item in value.items():
            if _FORMS.search(key):
                yield place  # the name itself must not be told
            else:
                yield from _find_places(item, (*place, key), name=key)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _find_places(item, (*place, number), name=name)
    elif isinstance(value, str) and (
        _FORMS.search(value) or (_NAMES.match(name) and _RANDOM.fullmatch(value))
    ):
        yield place
