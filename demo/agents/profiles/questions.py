"""Demo agents that ask people in words of their own."""

from __future__ import annotations

from demo.agents.profile import Ask, Profile, Task, Trouble, Turn

TRIAGE = Profile(
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

NOTES = Profile(
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
