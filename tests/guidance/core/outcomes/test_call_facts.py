"""What a call says about its run: lines, files, dependencies, tests, listed commands."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.edits import Edit
from guidance.core.outcomes.call_facts import CallFacts, build_call_facts
from guidance.core.outcomes.command_list import find_listed_command
from guidance.core.outcomes.dependencies import list_added
from guidance.core.outcomes.testing_commands import RUNNERS
from guidance.core.tools.calls import MultiEditCall
from guidance.core.tools.judge_call import judge_call
from guidance.core.tools.section import ToolRules
from tests.support.rows import each_row


def read_command(text: str, *listed: str) -> CallFacts:
    return build_call_facts(
        kind="command", shown={"command": text}, preview=None, listed=listed
    )


@each_row(
    ("command", "names"),
    [
        ("pip install requests", ["pypi:requests"]),
        ("python -m pip install 'Django[argon2]>=5'", ["pypi:django"]),
        ("pip install -r requirements.txt", []),
        ("pip install -e . -c c.txt flask", ["pypi:flask"]),
        ("uv pip install a_b.c", ["pypi:a-b-c"]),
        ("uv add --group dev ruff==0.5", ["pypi:ruff"]),
        ("poetry add httpx@^0.27 pytest", ["pypi:httpx", "pypi:pytest"]),
        ("npm install", []),
        ("npm i -D left-pad@1.3.0 @acme/ui", ["npm:left-pad", "npm:@acme/ui"]),
        ("sudo yarn add @acme/ui@next", ["npm:@acme/ui"]),
        ("pnpm add react && npm run build", ["npm:react"]),
        ("npm install ./local git+https://a.invalid/b.git", []),
        ("cargo add serde --features derive", ["crates:serde"]),
        ("go get github.com/a/b@v1.2.3", ["go:github.com/a/b"]),
        ("gem install rails -v 7.1", ["gems:rails"]),
        ("composer require monolog/monolog:^3", ["composer:monolog/monolog"]),
        ("conda install -c conda-forge numpy=1.26", ["conda:numpy"]),
        ("bash -c 'pip install nested'", ["pypi:nested"]),
        ("echo pip install requests", []),
        ("git commit -m 'pip install requests'", []),
    ],
)
def test_install_commands(command: str, names: list[str]) -> None:
    assert list(read_command(command).dependencies) == names


PACKAGE = """{
  "name": "shop", "version": "1.0.0",
  "scripts": {"test": "vitest"},
  "engines": {"node": ">=20"},
  "dependencies": {"react": "^18.2.0", "@acme/ui": "workspace:*"}
}"""
PYPROJECT = """[project]
name = "shop"
version = "1.0"
requires-python = ">=3.11"
keywords = [
    "web",
]
dependencies = ["django>=5", "httpx"]
[project.optional-dependencies]
dev = [
    "pytest>=8",
]
[tool.poetry.dependencies]
python = "^3.11"
redis = "^5.0"
"""
CARGO = '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nserde = "1"\ntokio = { version = "1" }\n'


@each_row(
    ("path", "content", "names"),
    [
        (
            "requirements.txt",
            "# web\nDjango==5.2\n-r base.txt\n\nhttpx\n",
            "pypi:django pypi:httpx",
        ),
        ("a/requirements-dev.in", "ruff ; python_version>'3'", "pypi:ruff"),
        ("pyproject.toml", PYPROJECT, "pypi:django pypi:httpx pypi:pytest pypi:redis"),
        ("uv.lock", '[[package]]\nname = "anyio"\nversion = "4"\n', "pypi:anyio"),
        ("web/package.json", PACKAGE, "npm:react npm:@acme/ui"),
        ("package-lock.json", '"node_modules/@a/b": {"version": "1"}', "npm:@a/b"),
        (
            "yarn.lock",
            '"@a/b@^1":\n  version "1"\nleft-pad@^1.3:\n',
            "npm:@a/b npm:left-pad",
        ),
        (
            "pnpm-lock.yaml",
            "packages:\n  '@a/b@1.2.3':\n  left-pad@1.3.0:\n",
            "npm:@a/b npm:left-pad",
        ),
        ("Cargo.toml", CARGO, "crates:serde crates:tokio"),
        (
            "go.mod",
            "module a\nrequire (\n\tgithub.com/a/b v1.2.3\n)\n",
            "go:github.com/a/b",
        ),
        ("Gemfile", "gem 'rails', '~> 7'\n", "gems:rails"),
        (
            "composer.json",
            '"require": {"php": ">=8", "monolog/monolog": "^3"}',
            "composer:monolog/monolog",
        ),
        ("pom.xml", "<artifactId>junit</artifactId>", "maven:junit"),
        ("build.gradle.kts", 'implementation("com.acme:ui:1.0")', "maven:com.acme:ui"),
        ("src/package.py", 'x = "requests>=2"', ""),
    ],
)
def test_manifests(path: str, content: str, names: str) -> None:
    assert list_added(path, content, is_diff=False) == names.split()


def test_a_new_version_is_not_a_new_dependency() -> None:
    diff = "@@ -1,2 +1,3 @@\n-django==5.1\n+django==5.2\n+httpx\n redis\n"
    assert list_added("requirements.txt", diff, is_diff=True) == ["pypi:httpx"]


def test_the_patch_of_a_coding_agent_is_read_file_by_file() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n+requests>=2\n"
        "*** Update File: requirements.txt\n-django==5.1\n+django==5.2\n+httpx\n*** End Patch"
    )
    shown = {"file_path": "a.py, requirements.txt", "content": patch, "diff_lines": 4}
    facts = build_call_facts(kind="edit", shown=shown, preview=None, listed=())
    assert facts.dependencies == ("pypi:httpx",)
    assert facts.files == ("a.py", "requirements.txt")
    assert (facts.lines_added, facts.lines_removed) == (3, 1)


@each_row(
    ("command", "tests", "tells"),
    [
        ("pytest -q", "pytest -q", True),
        ("cd shop && python -m pytest -k login", "pytest -k login", True),
        ("npm run test:unit", "npm run test:unit", True),
        ("FOO=1 go test ./...", "go test ./...", True),
        ("python manage.py test", "python manage.py test", True),
        ("pytest -q | tail -3", "pytest -q", False),
        ("pytest; echo done", "pytest", False),
        ("pytest || true", "pytest", False),
        ("npm run build", "", False),
        ("npm run build latest", "", False),
        ("make all docs site test", "", False),
        ("python manage.py migrate tests", "", False),
        ("cat test.py", "", False),
        ("git commit -m 'pytest passes'", "", False),
    ],
)
def test_test_runs(command: str, tests: str, tells: bool) -> None:
    facts = read_command(command)
    assert (facts.tests.removeprefix("FOO=1 "), facts.tests_tell) == (tests, tells)


@pytest.mark.parametrize("runner", sorted(RUNNERS))
def test_every_runner_is_known_by_its_bare_name(runner: str) -> None:
    assert read_command(runner).tests == runner


@pytest.mark.parametrize(
    "command",
    [
        "npm install jest",
        "npm --prefix web i -D vitest",
        "yarn add jest",
        "yarn remove jest",
        "pnpm why vitest",
        "bun add vitest",
        "pdm add pytest",
        "cargo install test-case",
        "composer require tests/fixtures",
    ],
)
def test_a_package_that_is_named_is_no_test_run(command: str) -> None:
    assert read_command(command).tests == ""


@pytest.mark.parametrize(
    "command",
    [
        "yarn jest",
        "npm exec jest",
        "deno task test",
        "pdm run pytest",
        "make install test",
    ],
)
def test_a_verb_behind_other_words_runs_tests(command: str) -> None:
    assert read_command(command).tests


@each_row(
    ("command", "entry", "meets"),
    [
        ("git push --force", "git push --force", True),
        ("git push origin main --force", "git push --force", True),
        ("sudo /usr/bin/git push -uf", "git push -f", True),
        ("git push", "git push --force", False),
        ("terraform destroy -auto-approve", "terraform destroy", True),
        ("terraform plan", "terraform destroy", False),
        ("terraform plan destroy", "terraform destroy", False),
        ("pulumi destroy", "terraform destroy", False),
        ("git --force", "git push --force", False),
        ("git push --forced", "git push --force", False),
        ("git push --xf", "git push -f", False),
        ("echo terraform destroy", "terraform destroy", False),
        ("bash -c 'terraform destroy'", "terraform destroy", True),
        (
            "kubectl delete pod x --grace-period=0",
            "kubectl delete --grace-period",
            True,
        ),
    ],
)
def test_listed_commands(command: str, entry: str, meets: bool) -> None:
    assert find_listed_command(command, [entry]) == (entry if meets else None)
    assert read_command(command, entry).listed == (entry if meets else "")


def test_lines_of_several_edits_are_those_of_the_preview() -> None:
    call = MultiEditCall(
        tool="MultiEdit",
        file_path="package.json",
        original='{"dependencies": {\n}}\n',
        edits=(Edit(old="{\n", new='{\n"left-pad": "^1.3"\n'),),
    )
    verdict = judge_call(rules=ToolRules(), call=call, fingerprint_key=b"k" * 32)
    facts = build_call_facts(
        kind="multi_edit", shown=verdict.shown, preview=verdict.preview, listed=()
    )
    assert (facts.lines_added, facts.lines_removed) == (1, 0)
    assert facts.dependencies == ("npm:left-pad",)
    assert CallFacts.from_json(facts.to_json()) == facts
    # Without the text that they are made in, the edits themselves are counted.
    unplanned = build_call_facts(
        kind="multi_edit", shown=verdict.shown, preview=None, listed=()
    )
    assert unplanned == facts


def test_tools_that_are_given_a_command_are_read_as_one() -> None:
    shown: dict[str, Any] = {"arguments": {"cmd": "npm i left-pad"}}
    facts = build_call_facts(kind="tool", shown=shown, preview=None, listed=())
    assert facts.dependencies == ("npm:left-pad",)


def test_the_text_of_a_listed_command_and_of_an_install_is_kept() -> None:
    assert read_command("terraform destroy", "terraform destroy").text
    assert read_command("npm i left-pad", "terraform destroy").text == "npm i left-pad"
    assert read_command("pytest -q", "terraform destroy").text == ""


def test_most_calls_have_nothing_to_say() -> None:
    assert read_command("ls -la").to_json() == {}
    shown: dict[str, Any] = {"arguments_json": "{"}
    assert (
        build_call_facts(kind="tool", shown=shown, preview=None, listed=()).to_json()
        == {}
    )
