"""The chain of a project's policies, as the page of a run shows it."""

from __future__ import annotations

import pytest

from accounts.models import Project
from ledger.models import Run
from reviews.policies.services import activate_version, create_version
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("draws entries, not SQL")


def test_each_act_on_a_policy_has_its_line(project: Project, alice: Person) -> None:
    create_version(
        project_id=project.pk,
        name="own",
        document={"checks": {"max_resets": 1}},
        note="<b>Try</b> this",
        author=alice.principal,
    )
    activate_version(
        project_id=project.pk,
        name="own",
        number=1,
        note="Looks right",
        by=alice.principal,
    )
    run = Run.objects.get(project=project, intent="system-policies")
    path = f"/p/{project.slug}/runs/{run.code}/"
    page = open_browser(alice.user).get(path).content.decode()
    for words in (
        *("1 policy version found", "In force: default, version 1"),
        *("Policy own, version 1 stored", "&lt;b&gt;Try&lt;/b&gt; this"),
        *("Policy own, version 1 in force", "Looks right"),
    ):
        assert words in page, words
