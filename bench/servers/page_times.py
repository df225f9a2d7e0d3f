"""How long pages take on the database that the environment names.

Run it as `python -m bench.servers.page_times PROJECT PERSON [PART]`, after
`bench.servers.many_runs` has filled it; with PART only addresses that contain it. Pages are
asked for within this process: what is measured is the server's work, without the network. Of
a list also the second page is measured, and the way back; of a file its first lines. The
result is one line of JSON for each address, with the statement that took longest.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# Everything below needs the apps that the line above has loaded.
from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.http import StreamingHttpResponse  # noqa: E402
from django.http.response import HttpResponseBase  # noqa: E402
from django.test import Client  # noqa: E402

from accounts.models import Project, User  # noqa: E402
from bench.figures import get_percentile  # noqa: E402
from bench.servers.page_addresses import list_addresses  # noqa: E402
from bench.yardstick import measure_slowness  # noqa: E402
from config.lifespan import settle_collector  # noqa: E402
from ledger.models import Run  # noqa: E402

TIMES, WARM_UP = 20, 2
# The links that lead on and back in a list, as its page has them.
_BESIDE = re.compile(r'href="([^"]*[?&;](?:cursor|before|after)=[^"]*)"')


class Statements:
    """How many statements there were, and the one that took longest."""

    def __init__(self) -> None:
        self.count, self.longest = 0, (0.0, "")

    def __call__(self, execute: Any, sql: str, params: Any, *more: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(sql, params, *more)
        finally:
            self.count += 1
            self.longest = max(self.longest, (time.perf_counter() - began, sql))


def main(slug: str, name: str, part: str = "") -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    user = User.objects.get(username=name)
    client = Client()
    client.force_login(user)
    project = Project.objects.get(slug=slug)
    runs = Run.objects.filter(project=project)
    longest = runs.order_by("-steps").first()
    middle = runs.order_by("pk")[runs.count() // 2]
    assert longest is not None, "There are no runs."
    addresses = list_addresses(
        slug=slug, run=str(longest.code), word=str(middle.code)[-6:]
    )
    settle_collector()  # as a server does it
    for address in addresses:
        if part in address:
            for number, each in enumerate(_list_beside(client, address)):
                measured = _measure(client, each)
                short = address.replace(str(longest.code), "LONG")
                way = ("", " (the next page)", " (and back)")[number]
                print(json.dumps({"page": f"{short}{way}", **measured}), flush=True)


def _list_beside(client: Client, address: str) -> Iterator[str]:
    """A page, the next one if there is one, and the page before that."""
    yield address
    if "csv" in address or "/runs/0" in address:
        return
    path = address.partition("?")[0]
    links = _BESIDE.findall(client.get(address, secure=True).content.decode())
    if not links:
        return
    following = f"{path}?{unescape(links[-1]).partition('?')[2]}"
    yield following
    links = _BESIDE.findall(client.get(following, secure=True).content.decode())
    if links:
        yield f"{path}?{unescape(links[0]).partition('?')[2]}"


def _measure(client: Client, address: str) -> dict[str, Any]:
    """Seconds: what this process and the database compute, and how long one waits."""
    spans, computed, slowness = [], [], []
    statements = Statements()
    for _ in range(WARM_UP + TIMES):
        statements.count = 0
        slowness.append(measure_slowness())
        began, cpu = time.perf_counter(), _read_processor_time()
        with connection.execute_wrapper(statements):
            _ask(client, address)
        computed.append(_read_processor_time() - cpu)
        spans.append(time.perf_counter() - began)
    return {
        "p95_s": get_percentile(spans[WARM_UP:], 0.95),
        "median_s": get_percentile(spans[WARM_UP:], 0.5),
        "median_cpu_s": get_percentile(computed[WARM_UP:], 0.5),
        "cpu_s": get_percentile(computed[WARM_UP:], 0.95),
        "slowness": get_percentile(slowness, 0.5),
        "queries": statements.count,
        "longest_s": statements.longest[0],
        "longest": statements.longest[1][:2000],
    }


def _ask(client: Client, address: str) -> None:
    answer: HttpResponseBase = client.get(address, secure=True)
    # The first page is at its own address: the way back to it ends there.
    if answer.status_code == 302:
        answer = client.get(answer["Location"], secure=True)
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}.")
    if isinstance(answer, StreamingHttpResponse):
        asyncio.run(_read_beginning(answer))


async def _read_beginning(answer: StreamingHttpResponse) -> None:
    """The head, and the first lines."""
    count = 0
    async for _ in answer:
        count += 1
        if count == 2:
            return


def _read_processor_time() -> float:
    """Of this process and, where it is on this machine, of the database's."""
    spent = time.process_time()
    if connection.vendor == "postgresql":
        with suppress(OSError):
            pid = connection.connection.info.backend_pid
            text = Path(f"/proc/{pid}/schedstat").read_text()
            spent += int(text.split()[0]) / 1e9
    return spent


if __name__ == "__main__":
    main(*sys.argv[1:])
