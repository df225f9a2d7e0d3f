"""The editor: form and YAML in step, every fault at its place, nothing typed is lost."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.policies.changes import write_policy
from console.policies.fields import list_fields
from guidance.core.policy.assignments import Assignment, Match
from guidance.models import PolicyVersion
from guidance.yaml_documents import parse_yaml
from guidance.yaml_edits import set_value
from reviews.models import Backtest, Review
from reviews.policies.assignments import replace_assignments
from reviews.policies.services import create_version
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

DOCUMENT = {"continue": {"repeat_limit": 3}, "runs": {"abandon_after_s": 60}}


def address(project: Project, rest: str = "") -> str:
    return f"/p/{project.slug}/policies/docs/edit/{rest}"


def read(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def find_typed(html: str) -> str:
    (found,) = re.findall(r'<textarea name="yaml".*?>\n(.*?)</textarea>', html, re.S)
    return unescape(found)


def open_form(person: Person, project: Project) -> dict[str, Any]:
    """All that a browser would send back untouched."""
    page = open_browser(person.user).get(address(project)).content.decode()
    names = ("side", "seen", "in_force")
    hidden = {
        name: re.findall(rf'name="{name}" value="([^"]*)"', page)[0] for name in names
    }
    return {**hidden, "yaml": find_typed(page), "note": "Because."}


@pytest.fixture
def policy(project: Project) -> PolicyVersion:
    return make_policy("docs", project=project, **DOCUMENT)


@pytest.mark.usefixtures("policy")
def test_a_change_in_the_form_reaches_the_yaml_and_is_said_in_words(
    project: Project, alice: Person
) -> None:
    form = open_form(alice, project)
    form |= {"side": "form", "f:continue.repeat_limit": "4", "f:budget.tokens": "none"}
    answer = send(open_browser(alice.user), address(project, "check/"), **form)
    html = answer.content.decode()
    assert "repeat_limit: 4" in find_typed(html)
    assert "tokens: null" in find_typed(html)
    said = read(html)
    assert "Pauses later Steps, Repetitions: 3 times → 4 times" in said
    assert "Stops later Budget, Tokens: 1,000,000 tokens → no limit" in said
    assert "was 3 times" in said
    assert 'hx-target="#fields"' not in html, "What is being typed would be lost."


@pytest.mark.usefixtures("policy")
def test_a_change_in_the_yaml_reaches_the_form(project: Project, alice: Person) -> None:
    form = open_form(alice, project)
    form["yaml"] = "# short\ncontinue: {max_rework_ratio: 0.25}\n"
    html = send(
        open_browser(alice.user), address(project, "check/"), **form
    ).content.decode()
    assert re.search(r'name="f:continue.max_rework_ratio" value="25"', html)
    wrong = form | {"yaml": "continue: {max_rework_ratio: 7}"}
    answer = send(open_browser(alice.user), address(project, "check/"), **wrong)
    assert "must be from 0 to 100 %" in read(answer.content.decode())
    assert 'name="yaml"' not in html, "What is being typed would be lost."


@pytest.mark.usefixtures("policy")
def test_thirty_faults_are_all_shown_where_they_are_and_nothing_is_saved(
    project: Project, alice: Person
) -> None:
    wrong = "".join(f"  word_{number}: 1\n" for number in range(28))
    text = f"continue:\n  repeat_limit: x\n  rework_window: -1\n{wrong}"
    form = open_form(alice, project) | {"yaml": text, "do": "save"}
    answer = open_browser(alice.user).post(address(project), form)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "30 faults" in read(html)
    for line in range(2, 32):
        assert f'id="line-{line}"' in html
        assert f"line {line}, column 3" in read(html)
    assert re.search(
        r'id="f-continue_2e_repeat_5f_limit-state" role="alert"\s*>must be a whole',
        html,
    )
    assert find_typed(html).rstrip() == text.rstrip()
    assert PolicyVersion.objects.filter(project=project, name="docs").count() == 1


# All that takes a number, thirty of them.
NUMBERS = [field for field in list_fields({}) if field.kind in ("number", "share")][:30]


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("side", ["form", "yaml"])
def test_thirty_wrong_settings_stand_at_thirty_fields_and_thirty_lines(
    project: Project, alice: Person, side: str
) -> None:
    form = open_form(alice, project) | {"do": "publish", "side": side}
    if side == "form":
        form |= {field.name: "a lot" for field in NUMBERS}
    else:
        wrong: dict[str, Any] = {}
        for field in NUMBERS:
            wrong = set_value(wrong, field.keys, "a lot")
        form["yaml"] = write_policy(wrong)
    answer = open_browser(alice.user).post(address(project), form)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "30 faults" in read(html)
    lines = find_typed(html).split("\n")
    for field in NUMBERS:
        assert re.search(rf'id="{field.id}-state" role="alert"\s*>must be a', html)
        assert re.search(rf'id="{field.id}" [^>]* value="a lot"', html)
        assert f'<a href="#{field.id}">' in html
        number = lines.index(next(x for x in lines if f"{field.keys[-1]}: a lot" in x))
        assert re.search(
            rf'class="wrong" id="line-{number + 1}" title="[^"]*must', html
        )
    assert len(re.findall(r'id="line-\d+"', html)) == 30
    assert PolicyVersion.objects.filter(project=project, name="docs").count() == 1


@pytest.mark.usefixtures("policy")
def test_faults_that_share_a_field_or_a_line_are_all_said(
    project: Project, alice: Person
) -> None:
    text = "tools: {confirm: ['', 1], max_diff_lines: -1}\n"
    form = open_form(alice, project) | {"yaml": text}
    html = send(
        open_browser(alice.user), address(project, "check/"), **form
    ).content.decode()
    (line,) = re.findall(r'id="line-1" title="([^"]*)"', html)
    assert line.count("column ") == 3
    (field,) = re.findall(r'id="f-tools_2e_confirm-state"[^>]*>([^<]*)<', html)
    assert field == "1: an empty pattern allows nothing; 2: must be a text"


@pytest.mark.usefixtures("policy")
def test_what_cannot_be_put_into_the_yaml_stays_where_it_was_typed(
    project: Project, alice: Person
) -> None:
    form = open_form(alice, project) | {"side": "form", "do": "save"}
    form |= {"f:tools.schemas": "{a: ", "f:budget.tokens": "5000"}
    answer = open_browser(alice.user).post(address(project), form)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "1 fault" in read(html)
    assert re.search(r'name="f:tools.schemas"[^>]*>\n\{a: </textarea>', html)
    assert "tokens: 5000" in find_typed(html)
    assert PolicyVersion.objects.filter(project=project, name="docs").count() == 1


@pytest.mark.usefixtures("policy")
def test_yaml_that_cannot_be_read_says_where_and_keeps_the_form(
    project: Project, alice: Person
) -> None:
    form = open_form(alice, project) | {"yaml": "continue: {repeat_limit: "}
    html = send(
        open_browser(alice.user), address(project, "check/"), **form
    ).content.decode()
    assert "1 fault" in read(html)
    assert re.search(r"line \d+, column \d+", read(html))
    assert 'hx-target="#fields"' not in html


@pytest.mark.usefixtures("policy")
def test_gates_and_rules_are_added_and_removed_by_buttons(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    form = open_form(alice, project) | {"do": "add-gate", "new-gate": "unit-tests"}
    html = send(browser, address(project, "check/"), **form).content.decode()
    assert 'name="f:gates.unit-tests.severity"' in html
    form |= {"yaml": find_typed(html), "do": "add-rule", "new-rule": "git-*"}
    html = send(browser, address(project, "check/"), **form).content.decode()
    assert "git-*: require-confirmation" in find_typed(html)
    assert 'name="f:tools.rules.git-*"' in html
    form |= {"yaml": find_typed(html), "do": "remove:gates.unit-tests"}
    html = send(browser, address(project, "check/"), **form).content.decode()
    assert "unit-tests" not in find_typed(html)
    # Without a script such a button sends the page: nothing is saved by it.
    page = browser.post(address(project), form)
    assert page.status_code == 200
    assert PolicyVersion.objects.filter(project=project, name="docs").count() == 1


@pytest.mark.usefixtures("policy")
def test_one_change_is_undone_and_the_others_stay(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    form = open_form(alice, project)
    form["yaml"] = "# mine\ncontinue: {repeat_limit: 5}\nbudget: {tokens: 9}\n"
    html = send(browser, address(project, "check/"), **form).content.decode()
    offered = re.findall(r'name="do" value="(undo:[^"]*)"', html)
    assert offered == [
        "undo:budget.tokens",
        "undo:continue.repeat_limit",
        "undo:runs.abandon_after_s",
    ]
    assert "abandon_after_s" in read(html).partition("As text")[2].partition("Steps")[0]
    for does in offered:
        form["do"] = does
        html = send(browser, address(project, "check/"), **form).content.decode()
        form["yaml"] = find_typed(html)
        assert form["yaml"].startswith("# mine\n")
        assert f'value="{does}"' not in html
    assert parse_yaml(form["yaml"]).document == DOCUMENT
    assert "Nothing yet: the draft says what is in force." in read(html)
    # Without a script it sends the page; a path that leads nowhere undoes nothing.
    assert browser.post(address(project), form).status_code == 200
    form["do"] = "undo:"
    assert browser.post(address(project), form).status_code == 200


@pytest.mark.usefixtures("policy")
def test_saving_makes_a_draft_and_publishing_puts_it_in_force(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    form = open_form(alice, project)
    form |= {"side": "form", "f:continue.repeat_limit": "5", "do": "save"}
    answer = browser.post(address(project), form)
    assert answer["Location"] == f"/p/{project.slug}/policies/docs/versions/2/"
    said = read(browser.get(answer["Location"]).content.decode())
    assert "version 2 version 1 is in force" in said
    stored = PolicyVersion.objects.get(project=project, name="docs", version=2)
    assert (stored.note, stored.created_by) == ("Because.", alice.user)

    form = open_form(alice, project)
    form |= {"yaml": "runs: {abandon_after_s: 90}", "do": "publish"}
    done = browser.post(address(project), form)
    assert done["Location"] == f"/p/{project.slug}/policies/docs/"
    page = browser.get(done["Location"])
    assert "version 3, in force" in read(page.content.decode())


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("door", ["editor", "version", "backtest"])
def test_a_tick_moves_the_runs_in_progress_as_well(
    project: Project, alice: Person, agent: httpx.Client, door: str
) -> None:
    assigned = [Assignment(match=Match(agent="robo"), policy="docs")]
    replace_assignments(project_id=project.pk, assignments=assigned)
    run = start_run(agent)
    browser = open_browser(alice.user)
    assert "runs in progress, from their next step (1 run now)" in read(
        browser.get(address(project)).content.decode()
    )
    form = open_form(alice, project) | {"yaml": "runs: {abandon_after_s: 90}"}
    if door == "editor":
        there, form = address(project), form | {"do": "publish"}
    elif door == "backtest":
        tried = browser.post(address(project), form | {"do": "backtest"})
        there = f"{tried['Location']}publish/"
    else:
        saved = browser.post(address(project), form | {"do": "save"})
        there = f"{saved['Location']}activate/"
    page = browser.post(there, form | {"note": "", "apply_to_running": "true"})
    assert page.status_code == 422
    assert re.search(
        r'name="apply_to_running" value="true" checked', page.content.decode()
    )
    assert browser.post(there, form | {"apply_to_running": "true"}).status_code == 302
    assert agent.get(f"/runs/{run}").json()["policy"]["version"] == 2


@pytest.mark.usefixtures("policy")
def test_a_note_is_needed_and_what_says_the_same_is_refused(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    form = open_form(alice, project)
    form |= {"yaml": "runs: {abandon_after_s: 90}", "do": "publish", "note": " "}
    page = browser.post(address(project), form)
    assert page.status_code == 422
    assert "Say why, in a sentence." in read(page.content.decode())
    assert "abandon_after_s: 90" in find_typed(page.content.decode())
    same = browser.post(address(project), open_form(alice, project) | {"do": "save"})
    assert same.status_code == 409
    assert "nothing would change" in read(same.content.decode())


@pytest.mark.usefixtures("policy")
def test_the_second_of_two_managers_sees_the_change_and_loses_no_typing(
    project: Project, alice: Person, bob: Person
) -> None:
    form = open_form(alice, project)
    form |= {"yaml": "budget: {tokens: 5000} # mine\n", "do": "publish"}
    create_version(
        project_id=project.pk,
        name="docs",
        document={"continue": {"repeat_limit": 6}},
        note="Repeats are usual.",
        author=bob.principal,
        activate=True,
    )
    browser = open_browser(alice.user)
    seen = send(browser, address(project, "check/"), **form).content.decode()
    assert "saved version 2 while you were writing: Repeats are usual." in read(seen)
    page = browser.post(address(project), form)
    html = page.content.decode()
    assert page.status_code == 409
    assert f"{bob.user.display_name} saved version 2" in read(html)
    assert "Repetitions: 3 times → 6 times" in read(html)
    assert find_typed(html).rstrip() == form["yaml"].rstrip()
    assert 'name="seen" value="2"' in html
    form |= {"seen": "2", "in_force": "2"}
    assert browser.post(address(project), form).status_code == 302
    assert PolicyVersion.objects.filter(project=project, name="docs").count() == 3


@pytest.mark.usefixtures("policy")
def test_a_draft_is_tried_without_being_stored_and_comes_back(
    project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    form = open_form(alice, project)
    form |= {"yaml": "budget: {tokens: 5000}", "do": "backtest", "note": ""}
    answer = browser.post(address(project), form)
    backtest = Backtest.objects.get(project=project)
    assert answer["Location"] == f"/p/{project.slug}/backtests/{backtest.code}/"
    assert PolicyVersion.objects.filter(project=project, name="docs").count() == 1
    page = browser.get(f"{address(project)}?backtest={backtest.code}")
    assert "tokens: 5000" in find_typed(page.content.decode())


def test_only_managers_edit(
    project: Project, policy: PolicyVersion, bob: Person
) -> None:
    browser = open_browser(bob.user)
    for path in (address(project), address(project, "check/")):
        assert browser.post(path, {"yaml": ""}).status_code == 404
    assert browser.get(address(project)).status_code == 404
    page = browser.get(f"/p/{project.slug}/policies/docs/").content.decode()
    assert "/edit/" not in page
    assert "/activate/" not in page
    assert policy.version == 1


def test_an_old_version_is_restored_with_a_note(
    project: Project, alice: Person, bob: Person
) -> None:
    for seconds in (60, 120):
        make_policy("docs", project=project, runs={"abandon_after_s": seconds})
    browser = open_browser(alice.user)
    there = f"/p/{project.slug}/policies/docs/versions/1/"
    assert "Restore version 1?" in read(browser.get(there).content.decode())
    refused = browser.post(f"{there}activate/", {"in_force": "2"})
    assert refused.status_code == 422
    assert "Say why" in read(refused.content.decode())
    stale = browser.post(f"{there}activate/", {"in_force": "1", "note": "Back."})
    assert stale.status_code == 412
    assert "Back." in read(stale.content.decode())
    given = {"in_force": "2", "note": "Back."}
    assert open_browser(bob.user).post(f"{there}activate/", given).status_code == 404
    done = browser.post(f"{there}activate/", given)
    assert done["Location"] == f"/p/{project.slug}/policies/docs/"
    assert "version 1, in force" in read(browser.get(done["Location"]).content.decode())


def test_where_it_takes_two_the_second_manager_is_asked(
    project: Project, alice: Person
) -> None:
    make_policy("docs", project=project, four_eyes={"policy": True})
    browser = open_browser(alice.user)
    page = browser.get(address(project)).content.decode()
    assert "Ask a second manager" in read(page)
    form = open_form(alice, project)
    form |= {"yaml": "runs: {abandon_after_s: 90}", "do": "publish"}
    answer = browser.post(address(project), form)
    (review,) = Review.objects.filter(project=project, kind="policy_change")
    assert answer["Location"] == f"/p/{project.slug}/queue/{review.code}/"
    assert browser.get(answer["Location"]).status_code == 200
    now = read(browser.get(f"/p/{project.slug}/policies/docs/").content.decode())
    assert "version 1, in force" in now
    assert "Putting another version in force takes two managers" in now
