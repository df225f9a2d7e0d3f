"""DBOS: workflows that wait in recv, answered by send. Run with its own interpreter."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from typing import Any

from dbos import DBOS, DBOSConfig

config: DBOSConfig = {
    "name": "waking",
    "system_database_url": os.environ["PEER_DATABASE"],
    "log_level": "ERROR",
}
DBOS(config=config)
awake: dict[str, float] = {}


@DBOS.workflow()
async def wait_for_person(name: str) -> Any:
    answer = await DBOS.recv_async("ruling", timeout_seconds=300)
    awake[name] = time.time()
    return answer


async def measure(waiters: int, ruled: int, rate: int) -> list[float]:
    handles = [
        await DBOS.start_workflow_async(wait_for_person, str(number))
        for number in range(waiters)
    ]
    await asyncio.sleep(3)
    seconds = []
    for number, handle in enumerate(handles[:ruled]):
        sent = time.time()
        await DBOS.send_async(handle.get_workflow_id(), "approve", "ruling")
        while str(number) not in awake:
            await asyncio.sleep(0.0005)
        seconds.append(awake[str(number)] - sent)
        await asyncio.sleep(1 / rate)
    return seconds


async def main() -> None:
    DBOS.launch()
    print(json.dumps(await measure(*map(int, sys.argv[1:4]))), flush=True)
    os._exit(0)  # the rest of them would wait for five minutes


asyncio.run(main())
