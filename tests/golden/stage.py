"""The stage of the day: the real server, its cast, and a record of all they say."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import httpx
from django.conf import settings

from accounts.models import Project, Role, User
from accounts.services import add_person, ensure_project, issue_agent_key
from config.access.operations import OPERATIONS
from console.models import Preferences
from tests.golden.clock import MORNING, Clock
from tests.golden.html import write_part
from tests.golden.writing import mask, write_json
from tests.support.browsing import open_browser
from tests.support.live import Live

HOST = "127.0.0.1:8000"
# Moves with the machine, or follows from the body.
# Answers that are long enough for a file of their own.
ELSEWHERE = {"GET /policies/schema.json": "policy_schema.json"}
CSRF = "c" * 32
UNTOLD = {"date", "set-cookie", "content-length", "transfer-encoding"}
PEOPLE = {
    "alice": Role.MANAGER,
    "bob": Role.REVIEWER,
    "cleo": Role.ADMIN,
    "dora": Role.AUDITOR,
    "erin": Role.MANAGER,
    "hugo": Role.REVIEWER,
    "ivan": Role.REVIEWER,
}
# What the script of the console sends along.
FRAGMENT = {"HX-Request": "true", "HX-Request-Type": "partial"}
AGENTS = ("robo", "rita", "dot")
_PATTERNS = {
    door: re.compile(
        door.partition(" ")[0] + " " + re.sub(r"\{\w+\}", "[^/]+", door.split(" ")[1])
    )
    for door in OPERATIONS
}


class Stage:
    """Everybody of the day and their clients; records each request with its answer."""

    def __init__(self, live: Live, clock: Clock) -> None:
        self.live = live
        self.clock = clock
        self.project: Project = ensure_project(slug="shop", name="Shop")
        self.files: dict[str, list[str]] = defaultdict(list)
        self.chapter = ""
        self.good: set[str] = set()
        self.refused: set[str] = set()
        # Ids of what later chapters need.
        self.kept: dict[str, str] = {}
        # A page of the console, whose frame the others are compared with.
        self.frame = ""
        # What was answered otherwise than the chapter that asked it needs.
        self.wrong: list[str] = []
        self.users: dict[str, User] = {}
        self.passwords: dict[str, str] = {}
        self.headers: dict[str, dict[str, str]] = {"nobody": {}}
        self._usual: dict[str, str] = {}
        self.client = httpx.Client(
            base_url=live.url,
            headers={"Host": HOST, "Accept-Encoding": "identity"},
            timeout=60,
            trust_env=False,
        )
        for name, role in PEOPLE.items():
            self.add_person(name, role)
        for name in AGENTS:
            clock.pass_time()
            _, key = issue_agent_key(name=name, project_slug=self.project.slug)
            self.headers[name] = {"Authorization": f"Bearer {key}"}

    def add_person(self, name: str, role: Role, *, takes_back: bool = False) -> None:
        """Add somebody who has chosen a password already."""
        self.clock.pass_time()
        added = add_person(name=name, role=role, project_slug=self.project.slug)
        User.objects.filter(pk=added.user.pk).update(must_change_password=False)
        added.user.must_change_password = False
        Preferences.objects.create(
            user=added.user, takes_back=takes_back, introduced=True
        )
        self.users[name] = added.user
        self.passwords[name] = added.password
        self.headers[name] = {"Authorization": f"Bearer {added.token}"}

    def sign_in(self, name: str) -> str:
        """Open a browser for this person; return who then asks with it."""
        user = self.users[name]
        browser = open_browser(user)
        session = browser.cookies[settings.SESSION_COOKIE_NAME].value
        cookies = f"{settings.SESSION_COOKIE_NAME}={session}"
        cookies += f"; {settings.CSRF_COOKIE_NAME}={CSRF}"
        who = f"{name} in a browser"
        self.headers[who] = {"Cookie": cookies, "X-CSRFToken": CSRF}
        return who

    def begin(self, chapter: str, *, hour: float) -> None:
        """Each chapter begins at an hour of its own: one request more moves no other."""
        self.chapter = chapter
        moment: datetime = MORNING + timedelta(hours=hour)
        self.clock.move_to(moment)

    def ask(
        self,
        who: str,
        what: str,
        body: Any = None,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Any:
        """Send one request; return the JSON of the answer, or its text."""
        self.clock.pass_time()
        self.client.cookies.clear()
        method, _, path = what.partition(" ")
        more: dict[str, Any] = {} if body is None else {"json": body}
        if content is not None:
            more["content"] = content
        answer = self.client.request(
            method,
            f"/api/v1{path}",
            headers={**self.headers[who], **(headers or {})},
            **more,
        )
        self._note_door(method, path, answer)
        self._record(who, what, body, answer)
        fits = answer.is_success if status is None else answer.status_code == status
        if not fits:
            told = f"{who}: {what}: {answer.status_code} {answer.text[:600]}"
            self.wrong.append(f"{self.chapter}: {told}")
        return answer.json() if is_json(answer) else answer.text

    def post(self, who: str, path: str, **form: str) -> httpx.Response:
        """Send a form of the console, as its script does."""
        self.clock.pass_time()
        self.client.cookies.clear()
        headers = {**self.headers.get(who, {}), **FRAGMENT}
        answer = self.client.post(path, data=form, headers=headers)
        lines = [f"=== {who}: POST {path}"]
        lines += [f"{name}={value}" for name, value in form.items()]
        lines += [f"--- {answer.status_code}", *self._list_headers(answer)]
        text = mask(answer.text)
        if answer.headers.get("content-type", "").startswith("text/html"):
            text = write_part(text)
        lines.append(text)
        self.files[f"answers/{self.chapter}.txt"].append(mask("\n".join(lines)) + "\n")
        if answer.status_code >= 500 or answer.status_code == 403:
            self.wrong.append(f"{who}: POST {path}: {answer.status_code}")
        return answer

    def refuse(
        self, who: str, what: str, body: Any = None, *, status: int = 422
    ) -> Any:
        """Send a request that is refused."""
        return self.ask(who, what, body, status=status)

    def rule(
        self,
        who: str,
        review: str,
        action: str,
        *,
        status: int | None = None,
        **more: Any,
    ) -> Any:
        """Read a review without a record, then rule on what it says."""
        seen = self.read("cleo", f"/reviews/{review}")
        body = {
            "action": action,
            "version": seen["version"],
            "content_digest": seen["content_digest"],
            **more,
        }
        return self.ask(who, f"POST /reviews/{review}/ruling", body, status=status)

    def read(self, who: str, path: str) -> Any:
        """Return the JSON of an answer that is not recorded."""
        self.client.cookies.clear()
        answer = self.client.get(f"/api/v1{path}", headers=self.headers[who])
        return answer.json()

    def start_run(self, who: str = "robo", **more: Any) -> str:
        task = {"task": "Fix the flaky login test", **more}
        return str(self.ask(who, "POST /runs", task)["id"])

    def step(self, run: str, number: int, *, who: str = "robo", **more: Any) -> Any:
        body = {"number": number, "tokens": 1000, "tool_calls": 1, **more}
        return self.ask(who, f"POST /runs/{run}/steps", body)

    def call(self, run: str, *, who: str = "robo", **body: Any) -> Any:
        return self.ask(who, f"POST /runs/{run}/tool-calls", body)

    def command(self, run: str, text: str, *, who: str = "robo", **more: Any) -> Any:
        asked = {"kind": "command", "tool": "Bash", "command": text, **more}
        return self.call(run, who=who, **asked)

    def _note_door(self, method: str, path: str, answer: httpx.Response) -> None:
        said = f"{method} {path.partition('?')[0]}"
        doors = [door for door, found in _PATTERNS.items() if found.fullmatch(said)]
        # A door without a placeholder is meant before one that would take its name.
        door = min(doors, key=lambda each: each.count("{"), default=None)
        if door is not None:
            (self.good if answer.is_success else self.refused).add(door)

    def _record(self, who: str, what: str, body: Any, answer: httpx.Response) -> None:
        lines = [f"=== {who}: {what}"]
        if body is not None:
            lines += [
                write_json(json.dumps(body, ensure_ascii=False, separators=(",", ":")))
            ]
        lines += [f"--- {answer.status_code}", *self._list_headers(answer)]
        if what in ELSEWHERE and answer.is_success:
            lines.append(f"(see {ELSEWHERE[what]})")
            self.files[ELSEWHERE[what]] = [write_body(answer)]
        elif answer.text:
            lines.append(write_body(answer))
        self.files[f"answers/{self.chapter}.txt"].append(mask("\n".join(lines)) + "\n")

    def _list_headers(self, answer: httpx.Response) -> Iterator[str]:
        """Those that differ from what the first answer with them said."""
        for name, value in sorted(answer.headers.items()):
            if name not in UNTOLD and self._usual.setdefault(name, value) != value:
                yield f"{name}: {value}"

    def list_usual_headers(self) -> str:
        return "".join(
            f"{name}: {value}\n" for name, value in sorted(self._usual.items())
        )


def is_json(answer: httpx.Response) -> bool:
    kind: str = answer.headers.get("content-type", "").partition(";")[0]
    return kind.endswith(("/json", "+json"))


def write_body(answer: httpx.Response) -> str:
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if is_json(answer):
        return write_json(answer.text)
    if kind == "application/x-ndjson":
        return "\n".join(map(write_json, answer.text.splitlines()))
    return answer.text


@contextmanager
def open_stage(live: Live, clock: Clock) -> Iterator[Stage]:
    stage = Stage(live, clock)
    try:
        yield stage
    finally:
        stage.client.close()
