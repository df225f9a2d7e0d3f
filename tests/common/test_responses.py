"""What every answer and every error carries, whatever it says."""

from __future__ import annotations

import pytest
from django.core.checks import registry

from common.commands import SETTINGS, QuickCommand
from common.errors import DomainError, RateLimited, Unauthenticated, Unavailable
from common.paging import PageQuery, build_parameter_error, refuse_unknown_parameters
from common.responses import (
    Reply,
    build_json_response,
    build_reply,
    escape_cell,
    send_reply,
    write_csv_head,
)


def test_an_answer_is_neither_kept_nor_taken_for_something_else() -> None:
    for answer in (
        build_json_response({"é": [1, None]}, status=201, headers={"X-More": "1"}),
        build_json_response('{"é":[1,null]}', status=201, headers={"X-More": "1"}),
    ):
        assert answer.status_code == 201
        assert answer.content.decode() == '{"é":[1,null]}'
        assert dict(answer.items()) == {
            "Content-Type": "application/json; charset=utf-8",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-More": "1",
        }
    assert build_json_response({}).status_code == 200


def test_a_reply_is_sent_as_it_was_built() -> None:
    reply = build_reply({"é": 1}, status=201, replayed=True)
    assert reply == Reply(status=201, body='{"é":1}', replayed=True)
    sent = send_reply(reply)
    assert (sent.status_code, sent.content.decode()) == (201, '{"é":1}')
    assert sent["Idempotency-Replayed"] == "true"

    plain = build_reply({})
    assert plain == Reply(status=200, body="{}", replayed=False)
    assert "Idempotency-Replayed" not in send_reply(plain)


def test_errors_say_what_to_do_next() -> None:
    assert Unauthenticated().headers == {"WWW-Authenticate": "Bearer"}
    assert Unavailable("busy").headers == {"Retry-After": "2"}
    assert Unavailable("busy", retry_after=9).headers == {"Retry-After": "9"}
    assert RateLimited("slow", retry_after=30).headers == {"Retry-After": "30"}
    error = DomainError("no", errors=[{"loc": []}], headers={"A": "b"}, state="open")
    assert (error.detail, str(error)) == ("no", "no")
    assert (error.errors, error.headers) == (({"loc": []},), {"A": "b"})
    assert error.extra == {"state": "open"}


def test_an_unknown_parameter_is_named_as_such() -> None:
    refuse_unknown_parameters(["limit", "cursor"], PageQuery.model_fields)
    with pytest.raises(DomainError) as refused:
        refuse_unknown_parameters(["limit", "wrong"], PageQuery.model_fields)
    assert (
        refused.value.errors
        == build_parameter_error("wrong", "not a parameter of this address").errors
    )
    assert refused.value.errors[0]["loc"] == ["query", "wrong"]


def test_a_quick_command_looks_at_the_settings_alone() -> None:
    """Those checks exist: a tag that nothing has would check nothing."""
    assert QuickCommand.requires_system_checks == (SETTINGS,)
    tagged = [
        check for check in registry.registry.get_checks() if SETTINGS in check.tags
    ]
    assert tagged


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", " =1"])
def test_a_cell_that_would_be_a_formula(cell: str) -> None:
    assert escape_cell(cell) == f"'{cell}"


def test_other_cells_stay() -> None:
    cells = ("a=1", "", -1, None, True)
    assert [escape_cell(cell) for cell in cells] == ["a=1", "", -1, None, "true"]
    assert write_csv_head(["a", "b"]) == "\ufeffa,b\r\n"
