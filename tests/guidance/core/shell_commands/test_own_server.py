"""The guard's own server is protected at the port and under the name that it has."""

from __future__ import annotations

import re

from guidance.core.shell_commands import judge_command
from guidance.core.shell_commands.own_server import USUAL_SERVER, OwnServer
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import GUARD
from guidance.core.tools.judge_call import judge_call
from guidance.core.tools.section import ToolRules
from tests.guidance.core.shell_commands.corpus import CASES
from tests.guidance.core.tools.builders import KEY, command, use
from tests.support.rows import each_row

ELSEWHERE = OwnServer(port=8430)
PUBLIC = OwnServer(host="agents.acme.invalid", public_port=443)
_EXAMPLES = {case.command for case in CASES} | {
    text for rule in RULES.values() for text in (*rule.trips, *rule.passes)
}
NAMING = sorted(text for text in _EXAMPLES if re.search(r"\b8000\b", text))


def list_guard_rules(text: str, server: OwnServer = USUAL_SERVER) -> list[str]:
    call = judge_call(
        rules=ToolRules(), call=command(text), fingerprint_key=KEY, server=server
    )
    return [each.details["rule"] for each in call.findings if each.gate == GUARD]


def test_every_row_that_names_the_port_says_the_same_of_another_one() -> None:
    assert len(NAMING) > 20
    for text in NAMING:
        moved = re.sub(r"\b8000\b", "8430", text)
        assert list_guard_rules(moved, ELSEWHERE) == list_guard_rules(text), text


@each_row(
    "text",
    [
        "fuser -k {}/tcp",
        "kill $(lsof -t -i:{})",
        "lsof -ti tcp:{} | xargs kill",
        "npx kill-port {}",
        "iptables -A INPUT -p tcp --dport {} -j DROP",
        "curl -X POST http://127.0.0.1:{}/p/shop/whatever -d x=1",
        "curl -X POST http://[::1]:{}/p/shop/whatever -d x=1",
    ],
)
def test_a_port_is_its_own_only_where_it_listens(text: str) -> None:
    for server, own, other in ((USUAL_SERVER, 8000, 8430), (ELSEWHERE, 8430, 8000)):
        assert list_guard_rules(text.format(own), server)
        assert not list_guard_rules(text.format(other), server)


@each_row("port", ["84''30", '84"30"', "8\\430"])
def test_quotes_hide_no_port(port: str) -> None:
    assert "guard-server" in list_guard_rules(f"kill $(lsof -ti :{port})", ELSEWHERE)


def test_its_public_name_is_its_own_with_and_without_its_port() -> None:
    text = "curl -X POST https://{}/p/shop/whatever -d x=1"
    for name in ("agents.acme.invalid", "AGENTS.acme.invalid:443"):
        assert list_guard_rules(text.format(name), PUBLIC) == ["guard-ruling"]
        assert not list_guard_rules(text.format(name))
    for name in ("agents.acme.invalid:8443", "not-agents.acme.invalid"):
        assert not list_guard_rules(text.format(name), PUBLIC)


def test_a_plain_command_is_judged_with_the_server_as_well() -> None:
    found = judge_command("fuser -k 8430/tcp", server=ELSEWHERE)
    assert [each.rule for each in found] == ["guard-server"]
    assert judge_command("fuser -k 8430/tcp") == ()


def test_a_tool_that_stops_what_listens_there_is_asked_about() -> None:
    call = use("kill_port", port=8430)
    for server, told in ((ELSEWHERE, True), (USUAL_SERVER, False)):
        verdict = judge_call(
            rules=ToolRules(), call=call, fingerprint_key=KEY, server=server
        )
        assert (GUARD in {each.gate for each in verdict.findings}) is told


def test_only_what_differs_is_kept_and_read_back() -> None:
    assert USUAL_SERVER.to_facts() == {}
    assert ELSEWHERE.to_facts() == {"server": {"port": 8430}}
    for server in (USUAL_SERVER, ELSEWHERE, PUBLIC):
        assert OwnServer.from_facts({"kind": "command", **server.to_facts()}) == server
