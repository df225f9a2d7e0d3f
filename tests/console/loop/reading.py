"""What a person reads on the pages of the loop."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from django.test import Client

from tests.loop.history import History

TABS = ("", "recommendations", "notes", "incidents", "week")


def words(page: Any) -> str:
    text = re.sub(r"<(script|dialog).*?</\1>", " ", page.content.decode(), flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def get_words(client: Client, path: str, **query: str) -> str:
    page = client.get(path, query)
    assert page.status_code == 200, path
    return words(page)


def rows(client: Client, history: History, **query: str) -> list[str]:
    page = client.get(history.path(), query).content.decode()
    return re.findall(r'data-open-row="([^"]+)"', page)
