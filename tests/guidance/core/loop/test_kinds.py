"""Which loops can do harm: patterns find it wherever it hides in the parameters."""

from __future__ import annotations

from typing import Any

from tests.guidance.core.loop.builders import section
from tests.support.rows import each_row


def harm(destructive: Any, **parameters: Any) -> str | None:
    kind = {"name": "x", "destructive": destructive}
    return section(kinds=[kind]).kinds["x"].find_harm(parameters)


PROD = [{"parameter": "host", "pattern": "^prod"}]
ANY = [{"parameter": "*", "pattern": "delete|true"}]


@each_row(
    ("destructive", "parameters", "asks"),
    [
        (True, {}, True),
        (False, {"host": "prod"}, False),
        ([], {"host": "prod"}, False),
        (PROD, {"host": "prod-1"}, True),
        (PROD, {"host": "test"}, False),
        (PROD, {"other": "prod-1"}, False),
        (PROD, {"hostname": "prod-1"}, False),
        (PROD, {"host": ["test", {"name": "prod-1"}]}, True),
        (PROD, {"host": {"prod-1": 1}}, True),
        (PROD, {}, False),
        (ANY, {"what": "delete it"}, True),
        (ANY, {"delete": 0}, True),
        (ANY, {"really": True}, True),
        (ANY, {"deep": [[{"x": "do delete"}]]}, True),
        (ANY, {"what": "look"}, False),
    ],
)
def test_when_a_person_is_asked(
    destructive: Any, parameters: dict[str, Any], asks: bool
) -> None:
    assert (harm(destructive, **parameters) is not None) is asks


def test_nobody_said_that_it_does_no_harm() -> None:
    assert section(kinds=[{"name": "x"}]).kinds["x"].find_harm({}) is not None
