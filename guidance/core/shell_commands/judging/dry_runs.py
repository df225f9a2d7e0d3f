"""Calls after which nothing has happened: dry runs, and requests for help."""

from __future__ import annotations

from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.word_lists import split_names

# A program that does not know one of these refuses to run at all.
_DRY = frozenset(
    {"--dry-run", "--dryrun", "--just-print", "--simulate", "--no-act", "--pretend"}
)
# These read everything after the first operand as operands on some systems, or ignore
# what they do not know.
_CARELESS = split_names(
    "rm rmdir unlink srm shred wipe chmod chown chgrp mv cp ln dd truncate tee kill "
    "redis-cli sc reg format del erase rd net wmic vssadmin wbadmin schtasks"
)
# Alone these only make a program say which one it is.
_VERSION = ("-V", "--version", "-version")
_HELP = frozenset(("--help", "-help", "--usage", "/?", "-?"))
# Programs to which -h is no host and no size.
_SHORT_HELP = split_names(
    "git docker podman helm kubectl terraform pulumi gh az gcloud cargo rustup flux "
    "argocd velero vault consul nomad rclone restic borg alembic prisma supabase "
    "wrangler vercel netlify firebase doctl linode-cli hcloud eksctl kind k3d minikube"
)
# Their manual pages are the last word of a call.
_HELP_AS_LAST_WORD = ("aws", "gcloud")


def changes_nothing(found: Invocation) -> bool:
    """Is it a rehearsal, or a question to the program itself?"""
    flags = found.flags
    if len(found.argv) == 2 and found.argv[1] in _VERSION:
        return True
    if found.name in _CARELESS:
        return len(found.argv) > 1 and found.argv[1] in _HELP
    if any(map(found.is_meant, _DRY.intersection(flags))):
        return True
    if not _HELP.isdisjoint(flags) or (
        "-h" in found.argv and found.name in _SHORT_HELP and not flags.get("-h")
    ):
        return True
    return found.operands[-1:] == ["help"] and found.name in _HELP_AS_LAST_WORD
