"""Demo agents that only report steps: gates slow them down, pause or stop them."""

from __future__ import annotations

from demo.agents.profile import Profile, Task, Trouble, Turn
from demo.agents.profiles.calls import LOCK_FILE

MIGRATOR = Profile(
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

SWEEPER = Profile(
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

REINDEXER = Profile(
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

FUZZER = Profile(
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

BACKFILL = Profile(
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

NIGHTLY = Profile(
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
