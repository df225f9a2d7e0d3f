"""What a rule catches, and what says itself that nothing is lost: things for tests.

Asked only of calls that a rule has caught. A reviewer does not thank for being asked
whether the test database, or the container of a test, may be made anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.disposable.scratch_names import (
    is_address,
    is_development_name,
    is_own_host,
    is_scratch_address,
    is_scratch_name,
    is_scratch_path,
)
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.shell.patterns import ASSIGNMENT
from guidance.core.shell_commands.shell.tree import Simple
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

_Check = Callable[[Walk, ProgramCall, Invocation], bool]

_MOST = 24
_HOSTS = ("-h", "--host", "-H")
# Options that name the database, or the settings it is found by.
_DATABASES = (
    *("-d", "--dbname", "--db", "--database", "--url", "-url", "-database", "--uri"),
    *("--connection", "--database-url", "--dburl", "-u"),
)
_STAGES = (
    *("--env", "-e", "--environment", "--settings", "-d", "--dataSource"),
    *("--connection", "--config", "--project", "--startup-project"),
)
_STAGE_SETTING = re.compile(
    r"(?:RAILS|RACK|NODE|APP|MIX|FLASK|DJANGO|SYMFONY|HANAMI|GO|ASPNETCORE|DOTNET|PHINX)"
    r"_ENV(?:IRONMENT)?|ENV|DJANGO_SETTINGS_MODULE|FLASK_CONFIG|CI_ENVIRONMENT"
)
# They know no stages: which database is meant only an address says.
_ADDRESSED = split_names(
    "prisma drizzle-kit alembic diesel sqlx dbmate goose migrate atlas flyway liquibase "
    "sea-orm-cli sqitch supabase hasura pg_restore"
)
_TEST_SETTINGS_FILE = re.compile(
    r"(?:.*[/=])?\.env\.(?:test|testing|ci|e2e)(?:\.local)?"
)
_TEST_RUN = re.compile(
    r"\b(?:spec|rspec|tests?|pytest|jest|vitest|mocha|phpunit|pest|cucumber|playwright"
    r"|cypress|e2e)\b"
)
_FILE = re.compile(r"(?:\./)?[\w./-]+\.(?:db|sqlite3?)")
_NAME_SETTING = re.compile(
    r"PGDATABASE|DB_DATABASE|(?:DB|DATABASE)_NAME|MYSQL_DATABASE|POSTGRES_DB"
)
_ADDRESS_SETTING = re.compile(r"[A-Z_]*(?:URL|DSN|URI)(?:_[A-Z]+)?")
_HOST_SETTING = re.compile(r"(?:PG|DB_|MYSQL_|POSTGRES_|DATABASE_)HOST")
_FAR_ENGINE = split_names("-H --host -c --context --connection --url")
_FAR_SETTINGS = split_names("DOCKER_HOST DOCKER_CONTEXT CONTAINER_HOST")
_OWN_CLUSTER = re.compile(
    r"kind(?:-.*)?|minikube|k3d-.+|docker-desktop|rancher-desktop|colima|orbstack"
)


def is_throw_away(rule: str, walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """Does the call name nothing but what was made for tests, on this machine?"""
    check = _CHECKS.get(rule)
    return check is not None and not found.open_ended and check(walk, call, found)


def _list_settings(walk: Walk, call: ProgramCall) -> dict[str, str]:
    """NAME=value before the command, on its line, or exported earlier in the script."""
    found: dict[str, str] = {}
    for place, item in enumerate(call.script.items):
        if item is call.simple:
            break
        if place % _MOST == 0:
            walk.budget.count_step()
        if isinstance(item, Simple) and item.words[:1] == ["export"]:
            found.update(_split_settings(walk, item))
    for assignment in call.simple.assignments:
        if not isinstance(assignment.value, list):
            found[assignment.name] = walk.known.expand_word(assignment.value)
    found.update(_split_settings(walk, call.simple))
    return found


def _split_settings(walk: Walk, simple: Simple) -> Iterator[tuple[str, str]]:
    for word in walk.known.build_argv(simple.words):
        match = ASSIGNMENT.match(word)
        if match is not None:
            yield match[1], word[match.end() :]


def _list_values(argv: list[str], options: tuple[str, ...]) -> list[str]:
    """Of `--env test` and `--env=test` alike."""
    found = [after for word, after in pairwise(argv) if word in options]
    for word in argv[1:]:
        option, equals, value = word.partition("=")
        if equals and option in options:
            found.append(value)
    return found


def _is_test_database(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """By the names it is given; an address that says otherwise counts more."""
    settings = _list_settings(walk, call)
    named = _list_values(call.argv, _DATABASES)
    addresses = [each for each in (*named, *call.argv[1:]) if is_address(each)]
    addresses += [
        value for name, value in settings.items() if _ADDRESS_SETTING.fullmatch(name)
    ]
    hosts = _list_values(call.argv, _HOSTS)
    hosts += [
        value for name, value in settings.items() if _HOST_SETTING.fullmatch(name)
    ]
    if not all(map(is_scratch_address, addresses)) or not all(map(is_own_host, hosts)):
        return False
    named += [
        value for name, value in settings.items() if _NAME_SETTING.fullmatch(name)
    ]
    stages: list[str] = []
    if call.name not in _ADDRESSED:
        stages = _list_values(call.argv, _STAGES)
        if _runs_tests_later(call):
            stages += [
                value
                for name, value in settings.items()
                if _STAGE_SETTING.fullmatch(name)
            ]
    return (
        bool(addresses)
        or any(
            _FILE.fullmatch(word) and is_scratch_path(word) for word in call.argv[1:]
        )
        or any(
            isinstance(word, str) and _TEST_SETTINGS_FILE.fullmatch(word)
            for word in call.simple.words[:_MOST]
        )
        or any(is_scratch_path(value) for value in stages)
        or any(is_scratch_name(value) for value in named)
    )


def _runs_tests_later(call: ProgramCall) -> bool:
    """A stage that only a variable names counts where the script goes on to test."""
    items = call.script.items[:_MOST]
    later = items[items.index(call.simple) + 1 :] if call.simple in items else []
    return any(
        isinstance(word, str) and _TEST_RUN.search(word) is not None
        for item in later
        if isinstance(item, Simple)
        for word in item.words[:_MOST]
    )


def _is_dropped_test_database(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """dropdb, and mysqladmin drop: each of the names, on this machine."""
    if found.name == "dbt":
        # Every developer has a schema of their own there.
        targets = _list_values(call.argv, ("--target", "-t"))
        return any(
            is_scratch_name(each) or is_development_name(each) for each in targets
        )
    names = found.operands[1:] if found.name == "mysqladmin" else found.operands
    if found.name not in ("dropdb", "mysqladmin"):
        return _is_test_database(walk, call, found)
    settings = _list_settings(walk, call)
    hosts = [*_list_values(call.argv, _HOSTS), settings.get("PGHOST", "")]
    return (
        bool(names)
        and all(map(is_scratch_name, names))
        and all(map(is_own_host, hosts))
    )


def _is_test_container(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """Each name, or the file or the name of the project, and not on another machine."""
    before = call.argv[: call.argv.index(found.operands[0])] if found.operands else []
    settings = _list_settings(walk, call)
    if not _FAR_ENGINE.isdisjoint(before) or not _FAR_SETTINGS.isdisjoint(settings):
        return False
    if "compose" in (found.operands[:1] or [""])[0] or found.name == "docker-compose":
        files = [found.flags.get(flag, "") for flag in ("-f", "--file")]
        projects = [found.flags.get(flag, "") for flag in ("-p", "--project-name")]
        projects.append(settings.get("COMPOSE_PROJECT_NAME", ""))
        files.append(settings.get("COMPOSE_FILE", ""))
        return any(map(is_scratch_path, files)) or any(map(is_scratch_name, projects))
    names = _list_names(found.operands)
    if "rmi" in found.operands[:1] or "image" in found.operands[:1]:
        # Also by its tag; what nothing is named after any more is built again.
        if _DANGLING.match(call.script.text[call.simple.start : call.simple.end]):
            return True
        names = [name.rpartition(":")[2] or name for name in names]
    return bool(names) and all(map(is_scratch_name, names))


_DANGLING = re.compile(
    r"\s*(?:docker|podman)\s+(?:rmi|image\s+rm)\s+(?:-f\s+|--force\s+)?\"?\$\((?:docker|podman)"
    r"\s+images?\s+[\w \t-]*(?:-f|--filter)[ =][\"']?dangling=true[\"']?[\w \t-]*\)\"?\s*\Z"
)
_VERBS = split_names(
    "rm rmi remove delete destroy container image volume network pod vm cluster clusters "
    "node registry"
)


def _list_names(operands: list[str]) -> list[str]:
    """What stands after the verbs."""
    place = 0
    while place < len(operands) and operands[place] in _VERBS:
        place += 1
    return operands[place:]


def _is_own_cluster(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """Objects of a cluster that runs on this machine, named as the context."""
    contexts = _list_values(call.argv, ("--context", "--kube-context"))
    if not contexts and call.name == "kubectl":
        for item in call.script.items:
            if item is call.simple:
                break
            words = item.words if isinstance(item, Simple) else []
            if words[:3] == ["kubectl", "config", "use-context"] and len(words) == 4:
                contexts = [str(words[3])]
    return bool(contexts) and all(map(_OWN_CLUSTER.fullmatch, contexts))


def _is_test_cluster(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    names = _list_values(call.argv, ("--name", "-n", "-p", "--profile"))
    if found.name not in ("kind", "k3d", "minikube") or found.has("--all"):
        return False
    names = names or _list_names(found.operands)
    # The jobs of others run in the cluster of the CI.
    return bool(names) and all(
        is_scratch_name(name) and not name.lower().startswith("ci") for name in names
    )


def _is_test_machine(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    names = _list_names(found.operands)
    return bool(names) and all(map(is_scratch_name, names))


def _is_test_environment(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """conda env remove -n ci-test."""
    names = _list_values(call.argv, ("-n", "--name"))
    return bool(names) and all(map(is_scratch_name, names))


def _is_demo_project(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """Firebase: such a project lives in the emulator alone."""
    names = _list_values(call.argv, ("--project", "-P"))
    return (
        call.name == "firebase"
        and bool(names)
        and all(name.startswith("demo-") for name in names)
    )


def _is_test_queue(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """On this machine, by its name."""
    names = _list_values(call.argv, ("--topic", "--queue", "name"))
    hosts = _list_values(
        call.argv, ("--bootstrap-server", "--host", "-H", "--zookeeper")
    )
    return (
        bool(names)
        and all(map(is_scratch_name, names))
        and all(is_own_host(host.partition(":")[0]) for host in hosts)
    )


def _is_in_temporary_folder(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """A repository below a temporary folder, which the commands of this chain run in."""
    return bool(walk.known.folder) and _ELSEWHERE.isdisjoint(
        word.partition("=")[0] for word in call.argv
    )


_ELSEWHERE = split_names("-C --git-dir --work-tree -R --repository --cwd")
_CHECKS: Mapping[str, _Check] = {
    **dict.fromkeys(
        split_names("git-reset-hard git-clean git-discard git-stash-drop git-expire"),
        _is_in_temporary_folder,
    ),
    "cluster-delete": _is_test_cluster,
    "container-delete": _is_test_container,
    "database-drop": _is_dropped_test_database,
    "database-reset": _is_test_database,
    "document-drop": _is_test_database,
    "helm-uninstall": _is_own_cluster,
    "kubernetes-delete": _is_own_cluster,
    "machine-destroy": _is_test_machine,
    "package-remove": _is_test_environment,
    "platform-delete": _is_demo_project,
    "queue-purge": _is_test_queue,
    "topic-delete": _is_test_queue,
}
