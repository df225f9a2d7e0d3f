"""Every page of the console as it stands at the end of the day.

The clock stands still meanwhile: one page more changes no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from accounts.models import Agent, Invitation, SignIn
from console.models import SavedPage, SavedView
from ledger.models import Run
from reviews.models import AdvisoryWarning, Review
from tests.console.test_every_page import list_pages
from tests.golden.html import write_page
from tests.golden.stage import FRAGMENT, Stage
from tests.golden.writing import digest, mask
from webhooks.models import Delivery

OF_A_PROJECT = "p/<slug:slug>/"
# The page whose frame the others are compared with, so that it is kept once.
FRAME = "p/<slug:slug>/gates/"
# Made from the document that `openapi.json` holds: a hash of it is enough.
LONG = "/api/v1/docs"
# Shown to a reviewer and an auditor as well, who may do less there.
SHARED = (
    "p/<slug:slug>/queue/",
    "p/<slug:slug>/queue/<uuid:code>/",
    "p/<slug:slug>/policies/<str:name>/",
)
# Pages that show the same as another one, of something else: by how their names begin.
ALIKE = (
    ("run_", "runs_code"),
    ("runs_code", "runs_code"),
    ("runs_q", "runs"),
    ("rulings", "rulings"),
    ("review_", "queue_code"),
    ("queue", "queue_code"),
    ("policies_name", "policies_name"),
    ("loop_decisions", "loop_decisions"),
)
QUERIES = (
    "runs/?q=status%3Astopped&sort=-cost",
    "queue/?kind=pause",
    "palette/?q=build",
    "ledger/?type=review.opened",
    "loop/decisions/<uuid:code>/",
    "runs/compare/?a={calls}&b={checked}",
    "rulings/?by=alice",
)


class Pages:
    """The addresses of all pages, with what the day has left at each."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.slug = stage.project.slug
        project = stage.project
        kept = stage.kept
        view = SavedView.objects.create(
            project=project,
            owner=stage.users["cleo"],
            page=SavedPage.RUNS,
            name="Trouble first",
            address="q=status%3Astopped",
        )
        agent = str(Agent.objects.get(project=project, name="builder").code)
        incident = stage.read("cleo", "/loop/incidents")["items"]
        other = stage.sign_in("cleo")
        stage.client.get("/p/shop/settings/you/", headers=stage.headers[other])
        sign_in = SignIn.objects.order_by("pk").last()
        self.codes: dict[str, str] = {
            "queue/": kept["talked"],
            "runs/": kept["calls"],
            "agents/": agent,
            "permissions/": stage.read("cleo", "/permissions")["items"][0]["id"],
            "halts/": kept["halt"],
            "calls/": kept["blocked"],
            "exemptions/": stage.read("cleo", "/exemptions")["items"][0]["id"],
            "webhooks/": kept["webhook"],
            "loop/decisions/": kept["decision"],
            "loop/recommendations/": kept["recommendation"],
            "loop/incidents/": incident[0]["id"],
            "backtests/": kept["backtest"],
            "shadows/": kept["shadow"],
            "settings/agents/": agent,
            "settings/people/": str(stage.users["bob"].code),
            "settings/people/invitations/": str(Invitation.objects.latest("pk").code),
            "settings/you/tokens/": stage.read("cleo", "/me/tokens")["items"][0]["id"],
            "settings/you/sign-ins/": str(sign_in.code) if sign_in else agent,
            "runs/views/": str(view.code),
            "queue/views/": str(view.code),
        }
        key = Agent.objects.get(name="builder").keys.latest("pk")
        self.others: dict[str, str] = {
            "key": str(key.code),
            "warning": str(AdvisoryWarning.objects.latest("pk").code),
            "allowance": kept["allowance"],
            "delivery": str(Delivery.objects.latest("pk").code),
            "action": "disable",
            "name": "default",
            "number": "1",
            "seq": "2",
            "setting": "continue.max_rework_ratio",
            "token": "unsigned",
            "secret": "nobody-was-given-this",
        }

    def fill(self, page: str) -> str:
        """Return the address of a page with everything that it asks for."""

        def find(found: re.Match[str]) -> str:
            name: str = found[1]
            if name == "slug":
                return self.others["kind"] if "problems" in page else self.slug
            if name == "code":
                before = page[: found.start()].removeprefix(OF_A_PROJECT)
                return self.codes.get(before, str(self.stage.users["bob"].code))
            return self.others[name]

        self.others["kind"] = "run-paused"
        return "/" + re.sub(r"<\w+:(\w+)>", find, page)

    def list_more(self) -> Iterator[tuple[str, str]]:
        """More addresses of the same pages, each with a name of its file."""
        for query in QUERIES:
            address = self.fill(OF_A_PROJECT + query).format(**self.stage.kept)
            yield name_file(query), address
        reviews = Review.objects.filter(project=self.stage.project).order_by("pk")
        for review in reviews:
            name = f"review_{review.kind}_{review.state}"
            yield name, f"/p/{self.slug}/queue/{review.code}/"
        for run in Run.objects.filter(project=self.stage.project).order_by("pk"):
            if not run.agent.name.startswith("system-"):
                yield f"run_{run.status}", f"/p/{self.slug}/runs/{run.code}/"


def record_pages(stage: Stage) -> set[str]:
    """Write the files of all pages; return which were asked for."""
    pages = Pages(stage)
    browsers = {name: stage.sign_in(name) for name in ("cleo", "bob", "dora")}
    files = stage.files
    seen = set[str]()
    # The lines of the page before, by the name of its file.
    mains: dict[str, list[str]] = {}
    wholes: dict[str, str] = {}

    def get(name: str, address: str, who: str = "cleo", *, part: bool = False) -> None:
        headers = stage.headers[browsers[who]] if who in browsers else {}
        stage.client.cookies.clear()
        answer = stage.client.get(
            address, headers={**headers, **(FRAGMENT if part else {})}
        )
        kind = answer.headers.get("content-type", "").partition(";")[0]
        head = f"{who}: {address} {answer.status_code}"
        if kind != "text/html" or answer.is_redirect:
            place = answer.headers.get("location", "")
            lines = [f"=== {head} {kind} {place}".rstrip()]
            files["pages/other.txt"].append(mask("\n".join([*lines, answer.text])))
            return
        text = mask(answer.text)
        if address == LONG:
            files["pages/other.txt"].append(f"=== {head}\n{digest(text)}")
            return
        own = name.removeprefix("parts/")
        whole = next((each for start, each in ALIKE if own.startswith(start)), own)
        if part and digest(text) == wholes.get(own):
            files["pages/parts/other.txt"].append(f"{head}: the whole page")
            return
        wholes.setdefault(own, digest(text))
        written, mains[whole] = write_page(text, stage.frame, mains.get(whole, []))
        files[f"pages/{name}.html"].append(f"=== {head}\n{written}")

    frame = stage.client.get(pages.fill(FRAME), headers=stage.headers[browsers["cleo"]])
    stage.frame = mask(frame.text)
    files["pages/frame.html"].append(stage.frame)
    for page in list_pages():
        address = pages.fill(page)
        name = name_file(page.removeprefix(OF_A_PROJECT))
        get(name, address, "cleo" if page.startswith(OF_A_PROJECT) else "nobody")
        if page == "" or page == "password/":
            get(name, address)
        if page in SHARED:
            get(name, address, "bob")
            get(name, address, "dora")
        if page.startswith(OF_A_PROJECT) and page.count("/") <= 4:
            get(f"parts/{name}", address, part=True)
        seen.add(page)
    kinds = set[str]()
    for name, address in pages.list_more():
        if name not in kinds:
            get(name, address)
            kinds.add(name)
    return seen


def name_file(page: str) -> str:
    """The name of a page's file: runs/<uuid:code>/ is runs_code."""
    plain = re.sub(r"<\w+:(\w+)>", r"\1", page)
    return re.sub(r"[^\w.]+", "_", plain).strip("_") or "home"
