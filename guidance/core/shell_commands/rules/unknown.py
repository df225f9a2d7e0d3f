"""Programs that no rule knows, where their own words say that they destroy something."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.rule import Rule
from guidance.core.shell_commands.shell.tree import Substitution, Word
from guidance.core.shell_commands.word_lists import (
    DESTROYING_VERBS,
    RUN_BY_OTHERS,
    split_names,
)

RULES = (
    Rule(
        name="unknown-destroying-verb",
        severity="medium",
        message="A program that is not known here is told to delete or destroy something",
        why="Nobody has written down what it takes along, or whether it asks.",
        safer="Try it with --dry-run or --help first, or list what it would take.",
        rollback="an export or copy of what it names.",
        trips=(
            "acme delete 4-40",
            "skyctl wipe tenant-4",
            "odo app delete shop",
            "acme --zone eu destroy shop",
            "acme clusters:destroy shop",
            "./ops.sh wipe staging",
            "Remove-SmbShare -Name shop",
        ),
        passes=(
            "odo app list",
            "acme create delete",
            "acme cache purge",
            "acme delete --help",
            "acme delete shop --dry-run",
            "pytest delete",
            "mkdir purge",
            "./delete.sh",
            "acme tests/delete.py",
            "acme 'delete the old one'",
            "Remove-Variable x",
            "Remove-SmbShare -Name shop -WhatIf",
        ),
    ),
)

# Alone, or first or last in a word such as delete-cluster, apps:destroy or vm.destroy.
VERBS = DESTROYING_VERBS
_VERB = f"(?:{'|'.join(VERBS)}|tear-down)"
_SAYS_VERB = re.compile(rf"(?:^|[-_:.]){_VERB}\Z|^{_VERB}[-_:]", re.IGNORECASE)
_WORD = re.compile(r"[a-z][a-z0-9:_.-]*", re.IGNORECASE)
# After one of these the next word is a name, or what goes is made again.
_OTHERS = split_names(
    "cache simctl get list ls show describe info status search find create add new init set update "
    "edit help run exec test start view cat read generate g run-script i install"
)
# Their words are names and texts, not verbs; some are the beginnings of SQL.
PLAIN = split_names(
    "alter create explain grant revoke awslocal tflocal cdklocal "
    "alias ansible-playbook apropos basename bat cat cd code coverage cut declare diff dirname echo "
    "egrep eslint export expr false fgrep file fzf gcc go grep head jest jq just "
    "let less ln local logger ls make man mkdir mocha more mypy nano nl open phpunit "
    "playwright printf pushd pytest rake read readonly return rg rspec ruff sed seq set "
    "sleep sort source stat tail task test tldr touch tr tree true tsc type typeset uniq "
    "unset vi vim vitest wc which xdg-open yq [ [["
)
# Their tables are complete, or their words are names of branches, scripts and packages.
COMPLETE = split_names(
    "git hg svn npm yarn pnpm pip docker podman docker-compose kubectl helm terraform "
    "terragrunt pulumi aws gcloud systemctl service apt apt-get dnf yum brew conda mamba "
    "redis-cli rails rake mix crontab ip nmcli ansible salt curl http cargo gem dotnet "
    "gh glab vault sqlite3 mysqladmin hdfs hadoop ace artisan wp console goose migrate"
)
_TRYING = (
    "--dry-run",
    "--dryrun",
    "--noop",
    "--check",
    "--plan",
    "--preview",
    "-whatif",
)
_CMDLET = re.compile(r"(?:Remove|Clear|Uninstall|Unregister|Reset|Revoke)-[A-Z]\w+")
_LIGHT_NOUNS = split_names(
    "variable module pssession job event psbreakpoint typedata psdrive alias host history "
    "error content formatdata pssnapin"
)
_FIRST_WORDS = 2
_LONGEST = 64


def names_destroying_verb(words: Sequence[object]) -> bool:
    """Quickly: is one of the words, as they are given, such a verb?"""
    return any(isinstance(word, str) and _is_verb(word) for word in words)


def may_run_another(name: str, words: Sequence[object]) -> bool:
    """Quickly: is one of the words a program, or a text that may hold one?"""
    if name in PLAIN:
        return False
    for word in words:
        if isinstance(word, str):
            if word in RUN_BY_OTHERS or " " in word or "(" in word:
                return True
        elif isinstance(word, Word) and isinstance(word.pieces[0], Substitution):
            return True
    return False


def destroys_by_name(found: Invocation) -> bool:
    """Do the first words, or a cmdlet's own name, say that something is destroyed?"""
    if found.name in PLAIN or _is_tried(found):
        return False
    cmdlet = found.argv[0].rpartition("\\")[2]
    if _CMDLET.fullmatch(cmdlet):
        return cmdlet.partition("-")[2].lower() not in _LIGHT_NOUNS
    return any(_begins_with_verb(words) for words in (found.operands, found.sure))


def goes_beyond_tables(found: Invocation) -> bool:
    """The same for a program that is known, by words that are certainly its verbs."""
    return not _is_tried(found) and _begins_with_verb(found.sure)


def _begins_with_verb(words: list[str]) -> bool:
    for word in words[:_FIRST_WORDS]:
        if _is_verb(word):
            return True
        if word.lower() in _OTHERS:
            return False
    return False


def _is_verb(word: str) -> bool:
    return (
        3 < len(word) < _LONGEST
        and _SAYS_VERB.search(word) is not None
        and _WORD.fullmatch(word) is not None
        and not word.endswith("cache")
    )


def _is_tried(found: Invocation) -> bool:
    return (
        found.argv[-1] == "-h"
        or "--help" in found.argv
        or any(flag.lower() in _TRYING and found.is_meant(flag) for flag in found.flags)
    )
