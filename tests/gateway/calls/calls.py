"""What the tests of the gateway say to it."""

from __future__ import annotations

from typing import Any

import httpx

DANGEROUS = "rm -rf build"


def ask(agent: httpx.Client, run: str, **body: Any) -> dict[str, Any]:
    """Put a call before the gateway; returns its answer."""
    answer = agent.post(f"/runs/{run}/tool-calls", json=body)
    assert answer.status_code == 201, answer.text
    judged: dict[str, Any] = answer.json()
    return judged


def command(
    agent: httpx.Client, run: str, text: str = DANGEROUS, **more: Any
) -> dict[str, Any]:
    return ask(agent, run, kind="command", tool="Bash", command=text, **more)


def tool(agent: httpx.Client, run: str, name: str, **arguments: Any) -> dict[str, Any]:
    return ask(agent, run, kind="tool", tool=name, arguments=arguments)


def judge(client: httpx.Client, door: str, **body: Any) -> dict[str, Any]:
    """Ask one of the doors that keep nothing: command, tool, edit or multi-edit."""
    answer = client.post(f"/evaluate/{door}", json=body)
    assert answer.status_code == 200, answer.text
    judged: dict[str, Any] = answer.json()
    return judged


def claim(
    agent: httpx.Client, run: str, call: dict[str, Any], digest: str | None = None
) -> httpx.Response:
    return agent.post(
        f"/runs/{run}/tool-calls/{call['id']}/claim",
        json={"digest": digest or call["digest"]},
    )


def settle(
    agent: httpx.Client, run: str, call: dict[str, Any], **body: Any
) -> httpx.Response:
    return agent.post(
        f"/runs/{run}/tool-calls/{call['id']}/result", json={"ok": True, **body}
    )


def rule(
    person: httpx.Client, call: dict[str, Any], action: str, **more: Any
) -> httpx.Response:
    """Rule on the review of a call, having read it."""
    review = person.get(f"/reviews/{call['review']['id']}").json()
    return person.post(
        f"/reviews/{review['id']}/ruling",
        json={
            "action": action,
            "version": review["version"],
            "content_digest": review["content_digest"],
            **more,
        },
    )


def gates(answer: dict[str, Any]) -> list[str]:
    return [finding["gate"] for finding in answer["findings"]]


def slug(answer: httpx.Response) -> str:
    kind: str = answer.json()["type"]
    return kind.removeprefix("/problems/")
