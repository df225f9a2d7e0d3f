"""The reason of a draft, typed once: the editor, its backtests and the way back have it."""

from __future__ import annotations

import pytest

from accounts.models import Project
from reviews.models import Backtest
from tests.console.policies.test_editor import address, open_form
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_the_reason_goes_along_to_the_backtest_and_back(
    project: Project, alice: Person, cleo: Person
) -> None:
    make_policy("docs", project=project)
    browser, why = open_browser(alice.user), "Quieter at <night>"
    shown = 'id="note" name="note" value="Quieter at &lt;night&gt;"'
    form = open_form(alice, project) | {"yaml": "budget: {tokens: 5000}"}
    tried = browser.post(address(project), form | {"do": "backtest", "note": why})
    assert shown in browser.get(tried["Location"]).content.decode()
    assert shown in browser.get(tried["Location"]).content.decode(), "after a reload"
    code = Backtest.objects.get(project=project).code
    editor = browser.get(f"{address(project)}?backtest={code}").content.decode()
    assert shown in editor
    span = {"since": "2026-11-01", "until": "2026-11-02", "runs": "policy"}
    again = browser.post(f"{tried['Location']}again/", span)
    assert again["Location"] != tried["Location"]
    assert shown in browser.get(again["Location"]).content.decode()
    published = {"note": "Another one", "in_force": "x"}
    refused = browser.post(f"{again['Location']}publish/", published)
    assert 'value="Another one"' in refused.content.decode()
    others = open_browser(cleo.user).get(tried["Location"]).content.decode()
    assert "Quieter" not in others
    plain = browser.get(address(project)).content.decode()
    assert "Quieter" not in plain, "another draft"
    second = browser.post(address(project), form | {"do": "backtest", "note": " "})
    assert "Quieter" not in browser.get(second["Location"]).content.decode()
