"""Questions that managers ask, each answered on screen within two clicks, by the menu that
every page has.

The answer is read off the page and compared with the API and with a count of the exported
ledger. One project holds the cases of all of them, and one signed-in page asks them all.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ledger.verification.project import perform_verifications
from tests.browser.manager_questions.house import House, Visit

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
FAST = timedelta(seconds=3)


def list_shown(page: Page) -> list[str]:
    rows = page.locator("[data-ruling]")
    return [str(row.get_attribute("data-ruling")) for row in rows.all()]


def read_csv(visit: Visit) -> list[dict[str, str]]:
    """What the link beside the title downloads."""
    address = visit.page.get_by_role("link", name="CSV").get_attribute("href")
    answer = visit.page.request.get(str(address))
    return list(csv.DictReader(io.StringIO(answer.body().decode("utf-8-sig"))))


def test_who_approves_everything_in_two_seconds(visit: Visit, house: House) -> None:
    visit.go("Rulings")
    name = house.alice.user.username
    cell = visit.page.locator(f'tr[data-person="{name}"] [data-figure="fast"]')
    shown = cell.inner_text()
    visit.click(cell.get_by_role("link"))
    listed = list_shown(visit.page)
    (figures,) = (
        row
        for row in house.get("/stats/reviewers")["reviewers"]
        if row["person"] == name
    )
    assert shown == f"{figures['fast_approvals']} of {figures['approvals']}"
    approvals = [
        took
        for entry, took in house.list_rulings()
        if entry["actor"] == f"user:{house.alice.user.code}"
        and entry["payload"]["action"] == "approve"
    ]
    fast = sum(took < FAST for took in approvals)
    assert (fast, len(approvals)) == (figures["fast_approvals"], figures["approvals"])
    assert len(listed) == fast > 0
    assert [row["id"] for row in read_csv(visit)] == listed


def test_destructive_commands_approved_this_month(visit: Visit, house: House) -> None:
    visit.go("Rulings")
    visit.click(visit.page.get_by_role("link", name="Destructive, approved this month"))
    listed = list_shown(visit.page)
    month = datetime.fromisoformat(house.list_entries("run.started")[0]["at"])
    since = month.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    query = {"rule": "destructive", "action": ["approve", "amend"]}
    answer = house.get("/rulings", since=since.isoformat(), **query)
    assert listed == [item["id"] for item in answer["items"]]
    assert [row["id"] for row in read_csv(visit)] == listed
    destructive = {
        entry["payload"]["review"]["id"]
        for entry in house.list_entries("call.judged")
        if entry["payload"]["review"]
        and any(
            finding["gate"] == "destructive"
            and finding["decision"] == "require-confirmation"
            for finding in entry["payload"]["findings"]
        )
    }
    approved = {
        entry["payload"]["review"]
        for entry, _ in house.list_rulings()
        if entry["payload"]["action"] in ("approve", "amend")
    }
    assert len(listed) == len(destructive & approved) == 3
    main = visit.page.locator("main")
    expect(main).to_contain_text("ran, the run")


def test_how_long_reviews_wait_and_who_is_on_it(visit: Visit, house: House) -> None:
    visit.go("Rulings")
    now = visit.page.locator("#waiting-now")
    figures = house.get("/stats/reviewers")
    waiting = figures["waiting"]
    entries = house.list_entries("review.opened", "review.ruled", "review.claimed")
    by_type = {
        kind: {e["payload"]["review"] for e in entries if e["type"] == f"review.{kind}"}
        for kind in ("opened", "ruled", "claimed")
    }
    left = by_type["opened"] - by_type["ruled"]
    unclaimed = left - by_type["claimed"]
    assert (
        (waiting["open"], waiting["unclaimed"]) == (len(left), len(unclaimed)) == (2, 1)
    )
    expect(now).to_contain_text("2 reviews waiting now, the longest for")
    expect(now).to_contain_text(f"{house.bob.user.username} is on 1, 1 unclaimed")
    half = visit.page.locator('tfoot [data-figure="median"]').inner_text()
    took = sorted(took for _, took in house.list_rulings())
    median = took[(len(took) + 1) // 2 - 1] // timedelta(milliseconds=1)
    assert figures["total"]["median_ms"] == median
    seconds = re.fullmatch(r"(\d+) ms|([\d.]+) s", half)
    assert seconds, half
    shown = int(seconds[1]) if seconds[1] else float(seconds[2]) * 1000
    assert abs(shown - median) <= 500


def test_which_permissions_stand_and_by_whom(visit: Visit, house: House) -> None:
    visit.go("Permissions")
    rows = visit.page.locator("li.permission:not(.ended)")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("rm -rf dist")
    expect(rows).to_contain_text(house.alice.user.username)
    (item,) = house.get("/permissions")["items"]
    granted = [
        entry
        for entry, _ in house.list_rulings()
        if entry["payload"].get("permission") is not None
    ]
    assert (item["granted_by"], len(granted)) == (house.alice.user.username, 1)
    assert granted[0]["actor"] == f"user:{house.alice.user.code}"


def test_which_gate_never_fails(visit: Visit, house: House) -> None:
    visit.go("Gates")
    row = visit.page.locator("#gate-test-suite")
    checked = row.locator('[data-label="Checked"]').inner_text()
    failed = row.locator('[data-label="Failed once or more"]').inner_text()
    verdicts = house.list_entries("check.judged")
    passed = [v for v in verdicts if v["payload"]["outcome"] == "passed"]
    assert (checked, failed) == (str(len(verdicts)), "0")
    assert len(passed) == len(verdicts) == 1
    told = house.agent.get(house.checked).json()
    assert (told["status"], told["attempt"]) == ("passed", 1)


def test_who_changed_the_policy(visit: Visit, house: House) -> None:
    visit.go("Policies")
    visit.click(visit.page.locator("main").get_by_role("link", name="default").first)
    history = visit.page.locator(".hist > ol > li")
    versions = house.get("/policies/default/versions")["items"]
    expect(history).to_have_count(len(versions))
    stored = house.list_entries("policy.stored")
    assert versions[0]["by"] == house.alice.user.username
    assert stored[-1]["actor"] == f"user:{house.alice.user.code}"
    expect(history.first).to_contain_text(f"Version {versions[0]['version']}")
    expect(history.first).to_contain_text(house.alice.user.username)
    expect(history.first).to_contain_text("Wider")


def test_did_the_agent_obey(visit: Visit, house: House) -> None:
    """It was paused at its first step and took the second one only after the ruling."""
    visit.go("Runs")
    visit.click(visit.page.get_by_role("link", name="Was paused and waited").first)
    entries = [
        entry
        for entry in house.list_entries("step.judged", "review.ruled")
        if entry["run"] == house.obeyed
    ]
    paused, ruled, went_on = entries
    assert [paused["type"], ruled["type"], went_on["type"]] == [
        "step.judged",
        "review.ruled",
        "step.judged",
    ]
    rows = visit.page.locator("li[id^=entry-]")
    shown = [int(str(row.get_attribute("data-seq"))) for row in rows.all()]
    assert [seq for seq in sorted(shown) if seq in {e["seq"] for e in entries}] == [
        entry["seq"] for entry in entries
    ]
    for number, entry in (("1", paused), ("2", went_on)):
        row = visit.page.locator(f"#entry-{entry['seq']}")
        expect(row.locator(".st")).to_have_text(number)
    person = visit.page.locator(f"#entry-{ruled['seq']}")
    expect(person).to_contain_text(house.bob.user.username)
    assert house.get(f"/runs/{house.obeyed}")["steps"] == 2
    review = house.get(f"/reviews/{ruled['payload']['review']}")
    assert review["ruling"]["action"] == ruled["payload"]["action"] == "approve"


def test_what_did_the_loop_do_this_week(visit: Visit, house: House) -> None:
    visit.go("Loop")
    visit.click(visit.page.get_by_role("link", name="Week", exact=True))
    shown = visit.page.locator(".totals div", has_text="Decisions").first.locator("dd")
    decided = house.list_entries("loop.decided")
    assert len(decided) == len(house.get("/loop/decisions")["items"]) >= 1
    expect(shown).to_contain_text(re.compile(rf"^{len(decided)}"))


def test_what_an_agent_cost_this_week(visit: Visit, house: House) -> None:
    visit.go("Overview")
    visit.click(visit.page.get_by_role("link", name="7 d", exact=True))
    row = visit.page.locator("table.agents tr", has_text="robo")
    shown = row.locator("td").last.inner_text()
    since = datetime.now(UTC) - timedelta(days=6)
    day = since.replace(hour=0, minute=0, second=0, microsecond=0)
    spend = house.get("/stats/spend", by="agent", since=day.isoformat())
    (item,) = (each for each in spend["items"] if each["key"] == "robo")
    reported = [
        Decimal(entry["payload"]["report"]["cost_micros"]) / 1_000_000
        for entry in house.list_entries("step.judged")
    ]
    assert shown == f"${sum(reported):.2f}" == "$1.75"
    assert Decimal(item["cost_usd"]) == sum(reported)


def test_which_runs_were_aborted_and_why(visit: Visit, house: House) -> None:
    visit.go("Runs")
    visit.click(visit.page.get_by_role("link", name=re.compile("^Aborted")))
    rows = visit.page.locator("#runs-list tr")
    expect(rows).to_have_count(1)
    listed = house.get("/runs", status="aborted")["items"]
    told = house.list_entries("run.aborted")
    assert [run["id"] for run in listed] == [entry["run"] for entry in told]
    expect(rows.locator(".why")).to_contain_text(told[0]["payload"]["reason"])


def test_a_run_is_found_by_its_ticket(visit: Visit, house: House) -> None:
    visit.go("Runs")
    box = visit.page.get_by_role("searchbox", name="Search runs")
    box.fill("PAY-2214")
    box.press("Enter")
    rows = visit.page.locator("#runs-list tr")
    expect(rows).to_have_count(1)
    (found,) = house.get("/runs", label="ticket:PAY-2214")["items"]
    expect(rows).to_have_id(f"run-{found['id']}")
    started = [
        entry["run"]
        for entry in house.list_entries("run.started")
        if entry["payload"]["labels"] == {"ticket": "PAY-2214"}
    ]
    assert started == [found["id"]]


def test_is_the_ledger_intact(visit: Visit, house: House) -> None:
    visit.go("Ledger")
    visit.click(visit.page.get_by_role("button", name="Verify now"))
    perform_verifications()
    panel = visit.page.locator("#checked .proof")
    answers = [house.get(f"/runs/{code}/verify") for code in house.list_runs()]
    assert all(answer["ok"] for answer in answers)
    expect(panel).to_have_class(re.compile(r"\bgo\b"))
    entries = sum(answer["entries"] for answer in answers)
    expect(panel).to_contain_text(f"{entries:,} entries")


def test_what_paused_most(visit: Visit, house: House) -> None:
    visit.go("Overview")
    reasons = visit.page.locator("#paused-by a")
    shown = [" ".join(each.inner_text().split()) for each in reasons.all()]
    counted = Counter(
        finding["gate"]
        for entry in house.list_entries("step.judged")
        for finding in entry["payload"]["verdict"]["findings"]
        if entry["payload"]["verdict"]["decision"] == finding["decision"] == "pause"
    )
    assert counted == {"uncertainty": 3, "rework": 1}
    assert shown == ["Too unsure 3", "Too much rework 1"]
    told = house.get("/stats/gates")["paused_by"]
    assert list(told.items()) == counted.most_common()
    visit.click(reasons.first)
    ruled = house.get("/rulings", rule="uncertainty")["items"]
    assert list_shown(visit.page) == [item["id"] for item in ruled]
    assert len(ruled) == 1


def test_compare_two_runs(visit: Visit, house: House) -> None:
    """The two that cost something are what the list is narrowed to."""
    visit.go("Runs")
    box = visit.page.get_by_role("searchbox", name="Search runs")
    box.fill("cost>0")
    box.press("Enter")
    expect(visit.page.locator("#runs-list tr")).to_have_count(2)
    visit.click(visit.page.get_by_title("Compare the first two runs of this list"))
    codes = [house.astray, house.obeyed]
    for title, name, form in (
        ("Steps", "steps", "{:,}"),
        ("Tokens", "tokens", "{:,}k"),
        ("Cost", "cost_usd", "${:.2f}"),
    ):
        row = visit.page.locator("table.versus tr").filter(
            has=visit.page.get_by_role("rowheader", name=title, exact=True)
        )
        shown = [cell.inner_text() for cell in row.locator("td.num").all()]
        told = [_read_used(house.get(f"/runs/{code}"), name) for code in codes]
        counted = [_count_used(house, code, name) for code in codes]
        assert told == counted, title
        unit = 1_000 if name == "tokens" else 1
        assert shown == [form.format(each / unit) for each in counted]


def _read_used(run: dict[str, Any], name: str) -> Decimal:
    return Decimal(run["steps"] if name == "steps" else run["budget"][name]["used"])


def _count_used(house: House, code: str, name: str) -> Decimal:
    reports = [
        entry["payload"]["report"]
        for entry in house.list_entries("step.judged")
        if entry["run"] == code
    ]
    if name == "steps":
        return Decimal(len(reports))
    if name == "tokens":
        return Decimal(sum(report["tokens"] for report in reports))
    return Decimal(sum(report["cost_micros"] for report in reports)) / 1_000_000
