"""Every path on which a person approves a review, and whether it was taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import httpx
from checkrail import people
from checkrail.answers import ReviewDetail
from checkrail.errors import CheckrailError
from django.test import Client

from accounts.models import Project
from tests.console.queue.panes import Desk
from tests.support.browsing import send
from tests.support.people import get_seen

PATHS = ("api", "page", "command line", "bulk api", "bulk page")
Send = Callable[[], bool]


@dataclass(frozen=True, kw_only=True)
class Approver:
    """One person with all that they approve by."""

    project: Project
    program: httpx.Client
    browser: Client
    desk: people.Desk

    def read(self, review: str, path: str) -> Send:
        """What would be sent by one who has read the review as it is now."""
        seen = get_seen(self.program, review)
        queue = f"/p/{self.project.slug}/queue/"
        match path:
            case "api":
                body = {"action": "approve", **seen}
                post = partial(
                    self.program.post, f"/reviews/{review}/ruling", json=body
                )
                return lambda: post().status_code in (200, 202)
            case "page":
                page = Desk(client=self.browser, path=f"{queue}{review}/")
                fields = {**page.look().hidden, "action": "approve"}
                return lambda: page.post_rule(fields).status_code == 200
            case "command line":
                return partial(self._rule, self.desk.review(review))
            case "bulk api":
                body = {"items": [{"id": review, **seen}], "action": "approve"}
                return partial(self._rule_all, body)
            case _:
                item = f"{review} {seen['version']} {seen['content_digest']} "
                fields = {"item": item, "action": "approve"}
                return partial(self._post_selection, f"{queue}selection/rule/", fields)

    def _rule(self, review: ReviewDetail) -> bool:
        """As `checkrail approve` does, once it has shown the review."""
        try:
            self.desk.rule(review, "approve")
        except CheckrailError:
            return False
        return True

    def _rule_all(self, body: dict[str, object]) -> bool:
        answer = self.program.post("/reviews/bulk-ruling", json=body)
        (result,) = answer.json()["results"]
        return result["status"] in ("needs-approval", "ruled")

    def _post_selection(self, path: str, fields: dict[str, str]) -> bool:
        said = send(self.browser, path, **fields).content.decode()
        return "1 approved" in said
