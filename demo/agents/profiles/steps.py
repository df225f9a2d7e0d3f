"""The demo's agents. Each is fiction, but every step of theirs is judged for real."""

from __future__ import annotations

from demo.agents.profile import Ask, Character, Task, Trouble, Turn
from demo.agents.profiles.calls import JANITOR, LOCK_FILE, PILOT
from demo.agents.profiles.checks import TESTER, TRANSLATOR

MIGRATOR = Character(
    name="billing-migrator",
    intent="refactor",
    tasks=(
        Task(
            text="Move invoice totals from floats to integer cents",
            labels={"repo": "shop", "branch": "inv-v2", "ticket": "PAY-2214"},
        ),
        Task(
            text="Move refund totals from floats to integer cents",
            labels={"repo": "shop", "branch": "refunds-v2", "ticket": "PAY-2231"},
        ),
    ),
    usual=(
        Turn("Read billing/models.py and its callers", "read:billing/models.py"),
        Turn("List every place that rounds a total", "bash:rg -n 'round\\(' billing"),
        Turn(
            "Write migration 0042, new column first", "edit:billing/migrations/0042.py"
        ),
        Turn("Backfill on a copy of the table", "bash:manage.py migrate billing 0042"),
        Turn("Compare sums before and after", "bash:manage.py compare_totals"),
        Turn("Switch the invoice view to cents", "edit:billing/views.py"),
        Turn("Run the billing tests", "bash:pytest billing -q"),
    ),
    trouble=Trouble(
        after=12,
        turns=(
            Turn("Edit billing/models.py again", "edit:billing/models.py", rework=True),
            Turn(
                "Tests: 3 failed, test_invoice_totals",
                "bash:pytest billing -q",
                failed_calls=1,
            ),
            Turn("Undo the rounding change", "edit:billing/money.py", rework=True),
            Turn(
                "Edit the migration again",
                "edit:billing/migrations/0042.py",
                rework=True,
            ),
            Turn(
                "Tests: the same three fail",
                "bash:pytest billing -q --lf",
                failed_calls=1,
            ),
            Turn(
                "Put the rounding change back", "edit:billing/rounding.py", rework=True
            ),
        ),
        doubt=0.035,
    ),
    ending=(
        Turn("Read the reviewer's note, change course", "read:review"),
        Turn("Fix the fixtures instead of the models", "edit:tests/factories.py"),
        Turn("Tests: all 214 pass", "bash:pytest billing -q"),
        Turn("Squash the two migrations into one", "edit:billing/migrations/0042.py"),
    ),
    done="Totals are kept in cents; sums before and after are equal to the cent.",
    length=34,
    tokens=3_900,
    budget={"tokens": 240_000},
)

SWEEPER = Character(
    name="docs-sweeper",
    intent="docs",
    tasks=(
        Task(
            text="Bring the API guide in line with version 2", labels={"repo": "docs"}
        ),
        Task(
            text="Remove settings from the handbook that no longer exist",
            labels={"repo": "docs"},
        ),
    ),
    usual=(
        Turn("Read the guide's table of contents", "read:guide/index.md"),
        Turn("Collect every documented setting", "bash:rg -o '`[A-Z_]+`' guide"),
        Turn("Look each setting up in the code", "bash:rg -n SETTINGS src/config.py"),
        Turn("Rewrite the section on pagination", "edit:guide/paging.md"),
        Turn("Check the links", "bash:lychee guide"),
        Turn("Rewrite the section on errors", "edit:guide/errors.md"),
    ),
    trouble=Trouble(
        after=9,
        turns=(
            Turn("The guide says 30 s, the code 60 s", "read:src/timeouts.py"),
            Turn("An older page says 45 s", "read:guide/archive/limits.md"),
            Turn("The changelog names neither", "bash:rg -n timeout CHANGELOG.md"),
            Turn("The tests use 10 s", "read:tests/test_timeouts.py"),
            Turn(
                "Look for the commit that changed it", "bash:git log -S REQUEST_TIMEOUT"
            ),
        ),
        doubt=0.075,
    ),
    ending=(
        Turn("Settle on what the code does", "edit:guide/limits.md"),
        Turn("Mark the archived page as outdated", "edit:guide/archive/limits.md"),
        Turn("Check the links once more", "bash:lychee guide --offline"),
    ),
    done="Eleven pages agree with the code; four settings left the handbook.",
    length=26,
    tokens=2_300,
    budget={"tokens": 120_000},
    begins_after=2.0,
    pace=6.0,
)

REINDEXER = Character(
    name="search-reindex",
    intent="performance",
    tasks=(
        Task(
            text="Rebuild the product index with the new analyser",
            labels={"repo": "search"},
        ),
        Task(
            text="Rebuild the product index for spelling errors",
            labels={"repo": "search"},
        ),
    ),
    usual=(
        Turn("Read the mapping of the live index", "http:GET products/_mapping"),
        Turn("Create products-v7 with the new analyser", "http:PUT products-v7"),
        Turn("Copy a sample of 10,000 documents", "http:POST _reindex?sample"),
        Turn(
            "Compare 200 stored queries, old and new",
            "bash:compare-queries --sample 200",
        ),
        Turn(
            "Raise the refresh interval while copying", "http:PUT products-v7/_settings"
        ),
    ),
    trouble=Trouble(
        after=11,
        turns=(Turn("Ask for the task's state: still 41 %", "http:GET _tasks/4711"),),
    ),
    ending=(
        Turn("Cancel the stuck task", "http:POST _tasks/4711/_cancel"),
        Turn("Copy again in slices of 50,000", "http:POST _reindex?slices=8"),
        Turn("Compare all stored queries", "bash:compare-queries --all"),
        Turn("Point the alias at products-v7", "http:POST _aliases"),
    ),
    done="The alias points at products-v7; no stored query lost a result.",
    length=22,
    tokens=1_500,
    budget={"tokens": 60_000},
    begins_after=4.0,
    pace=5.0,
)

TRIAGE = Character(
    name="pr-triage",
    intent="general",
    tasks=(
        Task(text="Sort the pull requests of this week", labels={"repo": "shop"}),
        Task(text="Find issues that describe the same defect", labels={"repo": "shop"}),
    ),
    usual=(
        Turn("Read the newest pull request", "http:GET pulls?sort=created"),
        Turn("Read its discussion", "http:GET pulls/comments"),
        Turn("Compare with open issues", "bash:similar-issues --open"),
        Turn("Label it by the paths it touches", "http:POST labels"),
        Turn("Check whether its tests ran", "http:GET checks"),
    ),
    trouble=Trouble(
        after=14,
        asks=(
            Ask(
                kind="question",
                title="Keep issue 402 or issue 418 open?",
                detail=(
                    "Both describe the same defect.\n"
                    "402 is older and has the reproduction.\n"
                    "418 has more votes and the fix refers to it.\n"
                    "The other one will be closed as a duplicate."
                ),
                options=("keep 402", "keep 418"),
            ),
            Ask(
                kind="question",
                title="Have pull request 431 split?",
                detail=(
                    "It changes prices and layout at once.\n"
                    "Prices: 3 files, covered by tests.\n"
                    "Layout: 14 files, no tests.\n"
                    "Split, the first half could be merged today."
                ),
                options=("ask the author to split it", "leave it as it is"),
            ),
        ),
    ),
    ending=(
        Turn("Close the duplicate, link the other", "http:PATCH issues"),
        Turn("Write the summary of the week", "edit:triage/week.md"),
    ),
    done="Nineteen pull requests sorted, three duplicates closed.",
    length=24,
    tokens=1_900,
    budget={"tokens": 80_000},
    begins_after=1.0,
    pace=7.0,
)

NOTES = Character(
    name="release-notes",
    intent="docs",
    tasks=(
        Task(
            text="Write the notes for release 2.4",
            labels={"repo": "shop", "release": "2.4"},
        ),
        Task(
            text="Write the notes for release 2.4.1",
            labels={"repo": "shop", "release": "2.4.1"},
        ),
    ),
    usual=(
        Turn("List the merges since the last tag", "bash:git log --merges v2.3.."),
        Turn("Group them by what users see", "edit:notes/draft.md"),
        Turn("Look up what each setting does now", "bash:rg -n deprecated src"),
        Turn("Shorten the draft to one page", "edit:notes/page.md"),
        Turn("Try the upgrade steps on a fresh copy", "bash:./upgrade.sh --dry-run"),
    ),
    trouble=Trouble(
        after=17,
        asks=(
            Ask(
                kind="request",
                title="Publish the release notes?",
                detail=(
                    "They go to the public changelog page: 6 features, 11 fixes, 1 change that needs action "
                    "(tokens issued before June stop working).\n"
                    "Publishing also sends the monthly mail."
                ),
            ),
            Ask(
                kind="request",
                title="Announce the end of API version 1?",
                detail=(
                    "The roadmap says March, but nobody was told yet.\n"
                    "214 keys have used version 1 in the last month."
                ),
            ),
        ),
    ),
    ending=(
        Turn("Take the decision into the draft", "edit:notes/final.md"),
        Turn("Archive the working files", "bash:git add notes"),
    ),
    done="The notes are written; what was published follows the decision.",
    length=25,
    tokens=2_700,
    budget={"tokens": 120_000},
    begins_after=6.0,
    pace=6.0,
)

FUZZER = Character(
    name="checkout-fuzzer",
    intent="testing",
    tasks=(
        Task(
            text="Fuzz the checkout form with unusual addresses",
            labels={"repo": "shop"},
        ),
        Task(
            text="Fuzz the checkout form with very long names", labels={"repo": "shop"}
        ),
    ),
    usual=(
        Turn("Generate 500 addresses", "bash:fuzz generate --count 500"),
        Turn("Send them to the staging checkout", "bash:fuzz send --target staging"),
        Turn("Sort the answers by status", "bash:fuzz sort"),
        Turn("Reduce the failing input", "bash:fuzz reduce"),
        Turn("Write a regression test", "edit:tests/test_checkout_fuzz.py"),
    ),
    trouble=Trouble(
        after=5,
        turns=(
            Turn("Widen the alphabet, keep every answer", "bash:fuzz generate --wide"),
            Turn("Read all answers so far again", "bash:fuzz read --all"),
            Turn("Send the wider set", "bash:fuzz send --wide"),
            Turn("Compare with all earlier sets", "bash:fuzz compare --all"),
            Turn("Explain each difference", "bash:fuzz explain"),
        ),
        growth=0.09,
        needs_person=False,
    ),
    ending=(
        Turn("Keep only failing inputs", "bash:fuzz prune"),
        Turn("Write a regression test", "edit:tests/test_checkout_fuzz.py"),
        Turn("Run the new tests", "bash:pytest tests/test_checkout_fuzz.py"),
    ),
    done="Two inputs found that the checkout refused wrongly; both have a test.",
    length=28,
    tokens=1_800,
    budget={"tokens": 90_000},
    begins_after=1.5,
    pace=4.0,
)

BACKFILL = Character(
    name="data-backfill",
    intent="general",
    tasks=(
        Task(
            text="Fill in missing country codes of old orders",
            labels={"repo": "warehouse"},
        ),
        Task(
            text="Fill in missing country codes of returned parcels",
            labels={"repo": "warehouse"},
        ),
    ),
    usual=(
        Turn("Take the next 1,000 rows", "sql:select next batch"),
        Turn("Guess the country from the postal code", "bash:guess-country"),
        Turn("Check the guesses against shipments", "sql:join shipments"),
        Turn("Write the sure ones back", "sql:update orders"),
        Turn("Set the doubtful ones aside", "edit:doubtful.csv"),
    ),
    trouble=Trouble(after=60, budget={"tokens": 95_000}, needs_person=False),
    ending=(
        Turn("Count what is still missing", "sql:select count"),
        Turn("Hand over the doubtful ones", "edit:doubtful.csv"),
    ),
    done="All but 212 rows have a country; the rest is listed for a person.",
    length=40,
    tokens=4_400,
    budget={"tokens": 260_000},
    begins_after=0.5,
    pace=4.0,
)

NIGHTLY = Character(
    name="nightly-deps",
    intent="security",
    tasks=(
        Task(
            text="Update dependencies, one at a time, tests after each",
            labels={"repo": "shop"},
        ),
        Task(
            text="Update the development tools, one at a time",
            labels={"repo": "shop"},
        ),
    ),
    usual=(
        Turn("Pick the next outdated package", "bash:outdated --next"),
        Turn("Read its changelog", "http:GET changelog"),
        Turn("Raise the bound", "edit:pyproject.toml"),
        Turn("Resolve the lock file", "bash:make lock", call=LOCK_FILE),
        Turn("Run the whole suite", "bash:make test"),
        Turn("Commit with the reason", "bash:git commit"),
    ),
    ending=(Turn("Open one pull request for all", "http:POST pulls"),),
    done="Nine packages updated, each in a commit of its own, suite green.",
    length=62,
    tokens=2_100,
    budget={"tokens": 200_000},
    pace=3.0,
)

CAST: tuple[Character, ...] = (
    MIGRATOR,
    SWEEPER,
    REINDEXER,
    TRIAGE,
    NOTES,
    FUZZER,
    BACKFILL,
    NIGHTLY,
    PILOT,
    JANITOR,
    TESTER,
    TRANSLATOR,
)


def character_for(name: str, *, index: int) -> Character:
    """The character of that name; agents of other names take turns."""
    known = {character.name: character for character in CAST}
    return known.get(name, CAST[index % len(CAST)])
