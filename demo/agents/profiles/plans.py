"""The demo's agent that says beforehand what it is going to do, and is asked once for it."""

from __future__ import annotations

from demo.agents.profile import (
    PlannedStep,
    Profile,
    Proposal,
    Task,
    Trouble,
    Turn,
)
from demo.agents.profiles.calls import build_bash_call

_BUILDS = PlannedStep(
    purpose="Remove the builds that no release points to",
    calls=tuple(
        build_bash_call(f"rm -rf builds/shop-{number}", "")
        for number in (1181, 1182, 1184, 1187)
    ),
    paths=("builds",),
)
_BRANCH = PlannedStep(
    purpose="Delete the branch of the spring sale, which is merged",
    calls=(
        build_bash_call(
            "git push --delete origin spring-sale",
            "- [deleted]         spring-sale",
        ),
    ),
)
_IMAGES = PlannedStep(
    purpose="Remove the images of these builds",
    calls=(
        build_bash_call(
            "docker image prune --all --force --filter label=shop.builds=unused",
            "Total reclaimed space: 9.8GB",
        ),
    ),
)
_LOOK = PlannedStep(
    purpose="See what is left",
    calls=(build_bash_call("du -sh builds", "2.2G\tbuilds"),),
    paths=("builds",),
)

PRUNER = Profile(
    name="build-pruner",
    intent="general",
    tasks=(
        Task(
            text="Clear the build server before the release",
            labels={"host": "build-01", "repo": "shop"},
        ),
        Task(
            text="Free 20 GB on the build server",
            labels={"host": "build-01", "repo": "shop"},
        ),
    ),
    usual=(
        Turn(
            "See how much the builds take",
            "bash:du -sh builds",
            call=build_bash_call("du -sh builds", "14G\tbuilds"),
        ),
        Turn("Read which builds the releases point to", "read:releases.json"),
        Turn(
            "List the merged branches",
            "bash:git branch --merged",
            call=build_bash_call("git branch -r --merged main", "origin/spring-sale"),
        ),
        Turn("Read the retention rules", "read:docs/retention.md"),
        Turn("Note what could go", "edit:notes/builds.md"),
    ),
    trouble=Trouble(
        after=5,
        plans=(
            Proposal(
                title="Clear the build server: four builds, their images, one branch",
                steps=(_BUILDS, _BRANCH, _IMAGES, _LOOK),
                beside=Turn(
                    "Find a cache that is larger than all builds",
                    "bash:rm -rf layers/shared",
                    call=build_bash_call("rm -rf layers/shared", ""),
                ),
            ),
        ),
    ),
    ending=(
        Turn("Write down what was removed, and what was not", "edit:notes/builds.md"),
        Turn("Tell the team in the channel of the release", "http:POST chat"),
    ),
    done="The build server has room again; the notes say what was removed.",
    length=12,
    tokens=1_100,
    budget={"tokens": 60_000, "tool_calls": 200},
    begins_after=4.0,
    pace=5.0,
)
