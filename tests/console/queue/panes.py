"""The pane of a review as a reader gets it: its text, its tags, its fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client

from accounts.models import Project
from tests.support.browsing import fragment, open_browser, send
from tests.support.builders import Person

Attributes = list[tuple[str, str | None]]


class _Reader(HTMLParser):
    """Reads as a browser does: a text area holds text and nothing else."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "textarea":
            self.set_cdata_mode(tag)

    def handle_data(self, data: str) -> None:
        # In a text area references are read, tags are not.
        self.texts.append(unescape(data) if self.cdata_elem == "textarea" else data)


@dataclass(frozen=True, kw_only=True)
class Pane:
    status: int
    html: str
    text: str
    tags: list[tuple[str, dict[str, str | None]]] = field(repr=False)

    def part(self, label: str) -> str:
        """The markup of one section, by its label."""
        start = self.html.index(f'aria-label="{label}"')
        return self.html[start : self.html.index("</section>", start)]

    @property
    def hidden(self) -> dict[str, str]:
        """The hidden fields: what this person has seen."""
        found = re.findall(r'type="hidden" name="([a-z_]+)" value="([^"]+)"', self.html)
        return dict(found)

    @property
    def confirmation(self) -> str:
        """What the person would send by ticking the box; empty where there is none."""
        found = re.search(r'name="confirmed" value="([^"]+)"', self.html)
        return found[1] if found else ""

    @property
    def names(self) -> set[str]:
        """Every attribute that stands in it."""
        return {name for _, attributes in self.tags for name in attributes}

    @property
    def kinds(self) -> set[str]:
        return {tag for tag, _ in self.tags}


def pane_in(answer: HttpResponse) -> Pane:
    html = answer.content.decode()
    reader = _Reader()
    reader.feed(html)
    return Pane(
        status=answer.status_code,
        html=html,
        text="".join(reader.texts),
        tags=reader.tags,
    )


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A person before one review."""

    client: Client
    path: str

    def look(self, **query: str) -> Pane:
        return pane_in(fragment(self.client, self.path, **query))

    def turn(self, page: int) -> Pane:
        return pane_in(send(self.client, f"{self.path}page/", next=page))

    def judge(self, typed: str = "", **parts: str) -> Pane:
        """What the gates say of a change while it is typed, in one field or in several."""
        fields = _name_parts(parts) or {"amended": typed}
        return pane_in(send(self.client, f"{self.path}amend/", **fields))

    def amend(self, typed: str, **more: Any) -> Pane:
        """Change the call, and confirm what the gates still ask about."""
        confirmed = self.judge(typed).confirmation
        return self.rule("amend", amended=typed, confirmed=confirmed, **more)

    def amend_parts(self, **parts: str) -> Pane:
        """The same in several fields, with every finding confirmed."""
        verdict, fields = self.judge(**parts), _name_parts(parts)
        asking = verdict.hidden.get("asking", "1")
        confirmed = [verdict.confirmation] * int(asking)
        return self.rule("amend", confirmed=confirmed, asking=asking, **fields)

    def take_back(self) -> Pane:
        return pane_in(send(self.client, f"{self.path}take-back/"))

    def post_rule(self, fields: dict[str, Any]) -> HttpResponse:
        """What was read before is sent now."""
        return send(self.client, f"{self.path}rule/", **fields)

    def rule(self, action: str, **more: Any) -> Pane:
        fields = {**self.look().hidden, "action": action, **more}
        fields.pop("dialog", None)  # of another form of the pane
        return pane_in(send(self.client, f"{self.path}rule/", **fields))


def _name_parts(parts: dict[str, str]) -> dict[str, str]:
    """`amended_2` is a field, as Python writes its name."""
    return {name.replace("_", "-"): typed for name, typed in parts.items()}


def open_desk(person: Person, project: Project, call: dict[str, Any]) -> Desk:
    review = call["review"]["id"]
    path = f"/p/{project.slug}/queue/{review}/"
    return Desk(client=open_browser(person.user), path=path)
