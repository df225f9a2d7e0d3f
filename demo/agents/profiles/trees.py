"""The demo's agent that starts runs below its own, which in turn start others; all of them
share the limit of its day."""

from __future__ import annotations

from demo.agents.profile import Call, Profile, Task, Turn
from demo.agents.profiles.calls import build_bash_call

# Of all runs of the agent in a day: the first tree uses most of it, the second is stopped.
DAY_LIMIT = {"tokens": 80_000, "cost_usd": "1.20"}

_BUDGET = {"tokens": 200_000, "tool_calls": 400}
_TESTS = build_bash_call("pytest -q", "All passed")


def _build_edit(path: str, lines: int) -> Call:
    return Call(
        kind="edit",
        tool="Edit",
        asks={"file_path": path, "content": "…\n" * 3, "diff_lines": lines},
        output=f"{path} written",
    )


def _build_part(
    text: str, *, turns: tuple[Turn, ...], length: int, failed_tests: int = 0
) -> Profile:
    return Profile(
        name="upgrade-lead",
        intent="refactor",
        tasks=(Task(text=text, labels={"repo": "shop"}),),
        usual=turns,
        ending=(Turn("Run the tests of this part", "bash:pytest -q", call=_TESTS),),
        done=f"Done: {text[0].lower()}{text[1:]}.",
        length=length,
        tokens=1_300,
        budget=_BUDGET,
        pace=2.0,
        failed_tests=failed_tests,
    )


_FIXTURES = _build_part(
    "Mend the fixtures that the payment tests use",
    turns=(
        Turn("Read the fixtures", "read:tests/fixtures.py"),
        Turn(
            "Give the fixtures a time zone",
            "edit:tests/fixtures.py",
            call=_build_edit("tests/fixtures.py", 18),
        ),
        Turn("Look for others that have none", "bash:grep naive"),
    ),
    length=6,
)
_PAYMENT = _build_part(
    "Upgrade the payment app",
    turns=(
        Turn("Read the settings of the payment app", "read:payment/settings.py"),
        Turn(
            "Replace what was removed",
            "edit:payment/views.py",
            call=_build_edit("payment/views.py", 42),
        ),
        Turn("Have the fixtures mended", "run:fixtures", starts=_FIXTURES),
        Turn("Try a payment by hand", "http:POST /pay"),
    ),
    length=6,
)
_SEARCH = _build_part(
    "Upgrade the search app",
    turns=(
        Turn("Read the queries of the search app", "read:search/queries.py"),
        Turn(
            "Write the index names out",
            "edit:search/models.py",
            call=_build_edit("search/models.py", 27),
        ),
        Turn("Compare the plans", "sql:explain"),
    ),
    length=7,
    failed_tests=2,
)
_ADMIN = _build_part(
    "Upgrade the pages of the admin",
    turns=(
        Turn("Open every page of the admin", "http:GET /admin"),
        Turn(
            "Rename the blocks of the templates",
            "edit:admin/base.html",
            call=_build_edit("admin/base.html", 12),
        ),
        Turn("Look at it in a narrow window", "browser:390"),
    ),
    length=6,
)

UPGRADER = Profile(
    name="upgrade-lead",
    intent="refactor",
    tasks=(
        Task(
            text="Upgrade the shop to the new framework, one app at a time",
            labels={"repo": "shop", "branch": "upgrade"},
        ),
    ),
    usual=(
        Turn("Read the release notes", "read:release-notes.md"),
        Turn("List what was removed", "bash:grep deprecated"),
        Turn("Hand out the payment app", "run:payment", starts=_PAYMENT),
        Turn("Hand out the search app", "run:search", starts=_SEARCH),
        Turn("Hand out the admin", "run:admin", starts=_ADMIN),
        Turn("Raise the version", "edit:pyproject.toml"),
        Turn("Read what the parts report", "read:reports"),
        Turn("Compare the settings", "bash:diff settings"),
    ),
    ending=(
        Turn("Put the parts together", "bash:git merge"),
        Turn("Run the whole suite", "bash:pytest -q", call=_TESTS),
    ),
    done="The shop runs on the new framework; the search app still fails two tests.",
    length=8,
    tokens=2_600,
    budget=_BUDGET,
    begins_after=1.0,
    pace=4.0,
)
