"""The demo's agents that have to prove their work, or that stop before it is done."""

from __future__ import annotations

from demo.agents.profile import Check, Profile, Stop, Task, Trouble, Turn

TESTER = Profile(
    name="checkout-tester",
    intent="testing",
    tasks=(
        Task(
            text="Cover the retry of failed payments with tests",
            labels={"repo": "shop", "branch": "pay-retry", "ticket": "PAY-2240"},
        ),
        Task(
            text="Cover partial refunds with tests",
            labels={"repo": "shop", "branch": "refund-tests", "ticket": "PAY-2251"},
        ),
    ),
    usual=(
        Turn("Read the payment client and its retries", "read:payments/client.py"),
        Turn("List what the tests do not reach", "bash:pytest --cov payments -q"),
        Turn(
            "Write down what will be tested, and how",
            "edit:docs/test-plan.md",
            check=Check(
                gates=("plan-quality",),
                passes="Every step names what it changes and how it is seen",
            ),
        ),
        Turn("Write the first four tests", "edit:tests/test_retry.py"),
        Turn(
            "Run the payment tests",
            "bash:pytest tests/payments -q",
            check=Check(
                gates=("test-suite",),
                fails=("test_timeout fails: the clock is not mocked",),
                passes="61 tests ran after the last edit, all passed",
            ),
        ),
        Turn(
            "Tidy up the fixtures",
            "edit:tests/conftest.py",
            check=Check(
                gates=("code-quality",),
                fails=("Two fixtures in tests/conftest.py do the same",),
                passes="The diff reads well",
            ),
        ),
        Turn("Read the diff as a reviewer would", "bash:git diff"),
    ),
    trouble=Trouble(
        after=8,
        checks=(
            Check(
                gates=("test-suite", "security"),
                fails=(
                    "3 of 64 tests fail, all in test_retry_after_timeout",
                    "1 of 64 tests fails, test_retry_after_timeout on a busy machine",
                ),
                passes="64 tests ran, all passed, ten times in a row",
            ),
            Check(
                gates=("test-suite", "migration-safety"),
                fails=(
                    "The migration ran on an empty database only",
                    "The migration ran on a copy, but its way back was not tried",
                ),
                passes="Forth and back on a copy of 2 million rows, counts equal",
            ),
        ),
    ),
    ending=(
        Turn("Go on by what the reviewer said", "read:review"),
        Turn("Run the whole suite once more", "bash:pytest -q"),
        Turn("Open a pull request with the figures", "http:POST pulls"),
    ),
    done="Retries of failed payments are covered; the suite passes.",
    length=18,
    tokens=2_200,
    budget={"tokens": 130_000},
    begins_after=2.5,
    pace=6.0,
)

TRANSLATOR = Profile(
    name="help-translator",
    intent="docs",
    tasks=(
        Task(text="Translate the help pages into Finnish", labels={"repo": "help"}),
        Task(text="Bring the Swedish help up to date", labels={"repo": "help"}),
    ),
    usual=(
        Turn("List the pages that changed", "bash:git diff --stat v11 help/en"),
        Turn("Read the glossary", "read:help/glossary.md"),
        Turn("Translate the page on refunds", "edit:help/refunds.md"),
        Turn(
            "Translate the page on gift cards",
            "edit:help/gift-cards.md",
            stop=Stop(
                content="The page on refunds is in place. Now I need to translate the "
                "page on gift cards.",
                finish_reason="tool_calls",
            ),
        ),
        Turn("Check that every link has its page", "bash:lychee help"),
    ),
    trouble=Trouble(
        after=9,
        stops=(
            Stop(
                content=(
                    "I have translated eleven of fourteen pages.\n\n"
                    "The page on chargebacks quotes terms that the legal team wrote, and "
                    "the glossary has no word for “chargeback”.\n\n"
                    "Should I keep the English term, or use “maksun peruutus” as the "
                    "bank's own pages do?"
                ),
            ),
            Stop(
                content=(
                    "Two screenshots on the page about invoices still show the old "
                    "design.\n\n"
                    "Do you want me to leave them out until there are new ones?"
                ),
            ),
        ),
    ),
    ending=(
        Turn("Go on by the answer", "read:review"),
        Turn("Translate the last three pages", "edit:help/chargebacks.md"),
        Turn("Check the links once more", "bash:lychee help --offline"),
    ),
    done="All fourteen pages are translated; no link is broken.",
    length=16,
    tokens=1_700,
    budget={"tokens": 90_000},
    begins_after=3.5,
    pace=7.0,
)
