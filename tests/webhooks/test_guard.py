"""Where webhooks must not go: the corpus M80 to M90, at saving and at every attempt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from uuid import uuid4

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test.utils import override_settings

from accounts.models import Project
from config.checks import refuse_unsafe
from config.environment import read_environment
from tests.support.problems import problem
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import Receiver, answer, receiving
from webhooks.addresses import is_public, parse_address, parse_allowed
from webhooks.delivery.attempt import LeasedDelivery, Outcome, attempt_delivery
from webhooks.delivery.http_pool import HttpPool
from webhooks.delivery.worker import deliver
from webhooks.models import WebhookEndpoint
from webhooks.targets import Refused, Unresolved, check_addresses, parse_url, resolve

pytestmark = pytest.mark.once("judges addresses and answers, not what is stored")

SECRET = "whsec_" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="


def each(text: str) -> list[str]:
    return text.split()


# M80 to M83, and the forms that are wrong whatever they resolve to.
REFUSED_URLS = each(r"""
http://93.184.216.34/  http://hooks.example/  HTTP://hooks.example/
file:///etc/passwd  gopher://hooks.example/  ftp://hooks.example/  javascript:alert(1)
https://user@hooks.example/  https://user:password@hooks.example/  https://@hooks.example/
https://hooks.example#@10.0.0.1/  https://hooks.example/#x  https:///x  //hooks.example/
https://hooks.example:0/  https://hooks.example:99999/  https://hooks.example:x/
https://[::1/  https://hooks.example\@10.0.0.1/  https://höoks.example/
https://127.1/  https://0x7f000001/  https://2130706433/  https://0177.0.0.1/
https://127.0.0.1/  https://[::1]/  https://localhost./  https://localhost/
https://169.254.169.254/latest/  https://100.100.100.200/  https://[fd00:ec2::254]/
https://[::ffff:10.0.0.1]/  https://[64:ff9b::a9fe:a9fe]/  https://[2002:7f00:1::]/
https://0.0.0.0/  https://0/  https://224.0.0.1/  https://100.64.0.1/  https://10.0.0.1/
https://255.255.255.255/  https://[ff02::1]/  https://[fe80::1]/  https://[::]/
""")
# M82 and M83: every kind of address that is not another party's public host.
PRIVATE = each("""
0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1
127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255
192.0.0.8 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1
203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1
2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1
5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%1 fec0::1 ff02::1 ff0e::1
""")
PUBLIC = each("""
1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 169.253.0.1 172.15.0.1
172.32.0.1 192.0.1.1 198.17.0.1 198.20.0.1 223.255.255.255
2001:200::1 2606:4700:4700::1111 2a00:1450:4001::1 2620:fe::fe
""")


def test_m80_to_m83_a_url_that_may_not_be_called_is_not_saved(
    manager: httpx.Client,
) -> None:
    for url in REFUSED_URLS:
        body = {"url": url, "types": ["run.finished"]}
        told = problem(manager.post("/webhooks", json=body), "invalid")
        assert told["errors"][0]["loc"] == ["url"], url
    assert not WebhookEndpoint.objects.exists()


def test_m82_and_m83_addresses_are_judged_by_our_own_list() -> None:
    assert [text for text in PRIVATE if is_public(parse_address(text))] == []
    assert [text for text in PUBLIC if not is_public(parse_address(text))] == []


async def attempt(url: str, *answers: Sequence[str]) -> tuple[Outcome, list[str]]:
    """One attempt; each look at the name gets the next answer. And who was asked."""
    asked: list[str] = []

    async def lookup(host: str, _port: int) -> Sequence[str]:
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    delivery = LeasedDelivery(
        delivery_id=1,
        endpoint_id=1,
        lease=uuid4(),
        attempt=1,
        url=url,
        webhook_id="evt_1",
        body="{}",
        secrets=(SECRET,),
    )
    async with httpx.AsyncClient(verify=False, trust_env=False) as client:  # noqa: S501
        made = await attempt_delivery(
            delivery, client=client, lookup=lookup, time_limit_s=5
        )
    return made, asked


async def test_m84_one_private_answer_refuses_all() -> None:
    for answers in (
        ["93.184.216.34", "10.0.0.1"],
        ["2606:4700:4700::1111", "::1"],
        ["169.254.169.254"],
        ["93.184.216.34", "64:ff9b::a00:1"],
    ):
        outcome, _ = await attempt("https://mixed.test/", answers)
        assert not outcome.ok
        assert outcome.status is None
        assert "not a public address" in outcome.error
    outcome, _ = await attempt("http://plain.test/", ["93.184.216.34"])
    assert outcome.error == "The URL must begin with https://."


async def test_m85_what_was_checked_is_what_is_called() -> None:
    """The name answers otherwise when asked again; nobody asks again."""
    with (
        receiving("127.0.0.2") as checked,
        override_settings(WEBHOOK_ALLOW=("127.0.0.2/32",)),
    ):
        url = f"http://rebinding.test:{checked.port}/"
        outcome, asked = await attempt(url, ["127.0.0.2"], ["127.0.0.1"])
        assert outcome.ok
        assert asked == ["rebinding.test"]
        assert checked.arrived[0].headers["host"] == f"rebinding.test:{checked.port}"
        outcome, _ = await attempt(url, ["127.0.0.1"])
        assert "not a public address" in outcome.error
        assert len(checked.arrived) == 1


def test_m85_a_kept_connection_does_not_outlive_the_check(
    project: Project, manager: httpx.Client
) -> None:
    """The second attempt finds another address and is refused, open line or not."""
    answers = iter([["127.0.0.2"], ["127.0.0.9"]])
    with (
        receiving("127.0.0.2") as checked,
        override_settings(WEBHOOK_ALLOW=("127.0.0.2/32",)),
    ):
        hook = add(manager, f"http://127.0.0.2:{checked.port}/")
        WebhookEndpoint.objects.update(url=f"http://turning.test:{checked.port}/")
        sender = HttpPool(resolver=lambda _host, _port: next(answers))
        tell(project, 1)
        tell(project, 1)
        deliver(sender)
        assert sorted(hook.states) == ["delivered", "retry_wait"]
        assert len(checked.arrived) == 1


def test_m86_redirects_lead_nowhere(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours["/hop"] = answer(302, location=receiver.url("/hop"))
    hook = add(manager, receiver.url("/hop"))
    tell(project)
    deliver()
    assert len(receiver.arrived) == 1
    assert hook.states == ["retry_wait"]


def test_m88_a_signature_is_no_credential(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    add(manager, receiver.url("/in"))
    tell(project)
    deliver()
    (arrived,) = receiver.arrived
    headers = {k: v for k, v in arrived.headers.items() if k.startswith("webhook-")}
    with httpx.Client(base_url=manager.base_url, trust_env=False) as stranger:
        replayed = stranger.post("/webhooks", content=arrived.body, headers=headers)
        assert replayed.status_code == 401
        signature = headers["webhook-signature"].partition(",")[2]
        shown = {"Authorization": f"Bearer {signature}"}
        assert stranger.get("/reviews", headers=shown).status_code == 401


def test_m90_ids_are_ours_alone(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project, 3, id="evt_1.2\nx", webhook_id="a.b")
    deliver()
    ids = [arrived.headers["webhook-id"] for arrived in receiver.arrived]
    assert all(re.fullmatch("evt_[0-9a-f]{32}", one) for one in ids)
    assert len(set(ids)) == 3
    for arrived in receiver.arrived:
        arrived.verified(hook.secret)


def test_a_name_that_nobody_knows_may_be_saved_and_fails_at_the_attempt(
    project: Project, manager: httpx.Client
) -> None:
    hook = add(manager, "https://nobody.invalid/hook")
    tell(project)
    deliver()
    attempt_made = hook.deliveries[0].tries.get()
    assert attempt_made.error == "nobody.invalid cannot be resolved"
    with pytest.raises(Unresolved):
        resolve("nobody.invalid", 443)
    with pytest.raises(Unresolved):
        check_addresses(parse_url("https://hooks.example/"), [])


def test_what_the_operator_names_may_be_called() -> None:
    allowed = ("hooks.internal:8080", "[::1]:9000", "10.1.0.0/16", "fd00::/8")
    rows = [
        ("http://hooks.internal:8080/", ["192.168.0.1"], True),
        ("http://Hooks.Internal:8080/", ["192.168.0.1"], True),
        ("http://hooks.internal:8081/", ["192.168.0.1"], False),
        ("http://[::1]:9000/", ["::1"], True),
        ("http://any.test/", ["10.1.2.3"], True),
        ("http://any.test/", ["10.1.2.3", "fd00::1"], True),
        ("http://any.test/", ["10.1.2.3", "10.2.0.1"], False),
        ("https://any.test/", ["10.2.0.1"], False),
        ("https://any.test/", ["93.184.216.34"], True),
    ]
    with override_settings(WEBHOOK_ALLOW=allowed):
        for url, answers, fine in rows:
            try:
                check_addresses(parse_url(url), answers)
            except Refused:
                assert not fine, url
            else:
                assert fine, url
    for wrong in ("hooks.internal", ":80", "host:0", "host:x", "10.0.0.1/8", "a/b"):
        with pytest.raises(ValueError, match=r"neither|host bits|does not appear"):
            parse_allowed([wrong])


def test_a_setting_that_cannot_be_read_stops_the_start(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECKRAIL_WEBHOOK_ALLOW", "hooks.internal:8080, 10.1.0.0/16")
    allowed = read_environment().webhook_allow
    assert allowed == ("hooks.internal:8080", "10.1.0.0/16")
    with override_settings(WEBHOOK_ALLOW=allowed):
        refuse_unsafe()
        call_command("check")
    with override_settings(WEBHOOK_ALLOW=("hooks.internal",)):
        with pytest.raises(ImproperlyConfigured, match=r"WEBHOOK_ALLOW.*neither"):
            refuse_unsafe()
        with pytest.raises(SystemCheckError, match=r"WEBHOOK_ALLOW.*neither"):
            call_command("check")


def test_a_proxy_of_the_environment_is_not_used(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would look the name up by itself, and call an address that nobody checked."""
    with receiving("127.0.0.2") as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url())
            monkeypatch.setenv(name.upper(), proxy.url())
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        hook = add(manager, receiver.url("/in"))
        tell(project)

        deliver(HttpPool())

        assert proxy.arrived == []
    assert len(receiver.at("/in")) == 1
    assert hook.states == ["delivered"]
