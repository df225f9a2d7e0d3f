"""A process that uvicorn started protects the port that uvicorn was told."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.conf import settings

from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.support.builders import Robot, start_run
from tests.support.processes import another_web_process


@pytest.mark.skipif(settings.EMBEDDED, reason="`up` listens itself")
@pytest.mark.parametrize("origin", ["", "https://agents.acme.invalid"])
def test_the_port_is_that_of_the_listener(robo: Robot, origin: str) -> None:
    variables = {"CHECKRAIL_ORIGINS": origin} if origin else {}
    with another_web_process(variables=variables) as process:
        port = urlsplit(process.live.url).port
        with client_for(process.live, robo) as client:
            run = start_run(client)
            asked = command(client, run, f"fuser -k {port}/tcp")
            other = command(client, run, "fuser -k 8000/tcp")
            posted = command(client, run, "curl -d x=1 https://agents.acme.invalid/x")
    assert [each["details"]["rule"] for each in asked["findings"]] == ["guard-server"]
    assert other["decision"] == "allow"
    ruled = {each["details"].get("rule") for each in posted["findings"]}
    assert ("guard-ruling" in ruled) is bool(origin)
