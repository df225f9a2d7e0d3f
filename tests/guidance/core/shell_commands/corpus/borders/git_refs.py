"""Branches moved or deleted by git's plumbing, by a fetch or under a lease."""

from __future__ import annotations

TRIPS = (
    (
        "git-branch-delete",
        "printf 'delete refs/heads/main\\n' | git update-ref --stdin",
    ),
    (
        "git-branch-delete",
        "git for-each-ref --format='delete %(refname)' refs/tags | git update-ref --stdin",
    ),
    ("git-branch-delete", 'git update-ref --stdin <<< "delete refs/heads/release"'),
    (
        "git-branch-delete",
        'echo "update refs/heads/main $(git rev-parse HEAD~40)" | git update-ref --stdin',
    ),
    ("git-branch-delete", "git update-ref --no-deref --stdin < instructions.txt"),
    ("git-branch-delete", "git update-ref refs/heads/main HEAD~20"),
    ("git-branch-delete", "git fetch origin +main:main"),
    ("git-branch-delete", "git fetch --force origin develop:main"),
    ("git-branch-delete", "git fetch . +HEAD~5:refs/heads/main"),
    ("git-push-force", "git push --force-with-lease origin HEAD~4:main"),
    ("git-push-force", "git push --force-with-lease origin 3f2a1bc:main"),
    ("git-rewrite", "git fast-import --force < old.export"),
    ("git-branch-delete", "git -C lib update-ref --stdin < del.txt"),
    ("git-branch-delete", "git pull --force origin +main:main"),
)
_HARMLESS = (
    "git fetch origin +refs/heads/*:refs/remotes/origin/*",
    "git fetch origin pull/12/head:pr-12",
    "git fetch origin +refs/pull/12/head:refs/remotes/origin/pr/12",
    "git push --force-with-lease origin feature",
    "git push --force-with-lease",
    "git update-ref refs/notes/build HEAD",
    "printf 'create refs/tags/x abc\\n' | git update-ref --stdin",
    "git fetch origin main",
    "git fetch origin main:refs/remotes/origin/main",
    "git for-each-ref --format='delete %(refname)'",
)
PASSES = tuple(("", command) for command in _HARMLESS)
