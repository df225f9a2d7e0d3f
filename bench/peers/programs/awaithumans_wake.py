"""awaithumans: tasks long-polled as its client does, completed over its API."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx

TOKEN = secrets.token_urlsafe(32)
TASK = {
    "task": "Go on?",
    "payload": {},
    "payload_schema": {"type": "object"},
    "response_schema": {"type": "object"},
    "timeout_seconds": 3600,
}


async def wait(client: httpx.AsyncClient, task: str) -> float:
    while True:
        answer = await client.get(f"/api/tasks/{task}/poll", params={"timeout": 25})
        if answer.status_code == 200 and answer.json()["status"] == "completed":
            return time.time()


async def measure(url: str, waiters: int, ruled: int, rate: int) -> list[float]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=url, headers=headers, timeout=60, limits=limits, trust_env=False
    ) as client:
        tasks = []
        for number in range(waiters):
            body = {**TASK, "idempotency_key": f"wake-{number}"}
            created = await client.post("/api/tasks", json=body)
            created.raise_for_status()
            tasks.append(created.json()["id"])
        waiting = [asyncio.create_task(wait(client, task)) for task in tasks]
        await asyncio.sleep(3)
        seconds = []
        for task, waiter in zip(tasks[:ruled], waiting[:ruled], strict=True):
            sent = time.time()
            done = await client.post(
                f"/api/tasks/{task}/complete", json={"response": {"approved": True}}
            )
            done.raise_for_status()
            seconds.append(await waiter - sent)
            await asyncio.sleep(1 / rate)
        for waiter in waiting:
            waiter.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return seconds


def serve(port: int) -> subprocess.Popen[bytes]:
    folder = Path(os.environ["PEER_FOLDER"])
    database = os.environ["PEER_DATABASE"].replace(
        "postgresql://", "postgresql+psycopg://"
    )
    environment = {
        **os.environ,
        "AWAITHUMANS_DATABASE_URL": database,
        "AWAITHUMANS_PAYLOAD_KEY": secrets.token_urlsafe(32),
        "AWAITHUMANS_ADMIN_API_TOKEN": TOKEN,
    }
    return subprocess.Popen(
        [
            folder / "venv/bin/awaithumans",
            "serve",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ],
        env=environment,
        cwd=folder,
        stdout=(folder / "peer.log").open("wb"),
        stderr=subprocess.STDOUT,
    )


def main() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = serve(port)
    try:
        for _ in range(300):
            try:
                httpx.get(f"{url}/api/health", timeout=5, trust_env=False)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        print(json.dumps(asyncio.run(measure(url, *map(int, sys.argv[1:4])))))
    finally:
        server.terminate()
        server.wait()


main()
