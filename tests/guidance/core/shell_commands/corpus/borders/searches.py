"""Searches that find only what tools make again, and those that find more than that."""

from __future__ import annotations

TRIPS = (
    ("find-delete", "find . -name '*.pyc' -o -delete"),
    ("find-delete", "find . ! -name '*.pyc' -delete"),
    ("find-delete", "find . -delete -name '*.pyc'"),
    ("find-delete", "find . -name node_modules -prune -o -type f -delete"),
    ("find-delete", "find . -not \\( -name node_modules -o -name .git \\) -delete"),
    ("delete-folder", "find . -name bin -type d -exec rm -rf {} +"),
    ("delete-folder", "find / -name node_modules -exec rm -rf {} +"),
    ("delete-folder", "find .. -name node_modules -exec rm -rf {} +"),
    ("delete-folder", 'find "$ROOT" -name node_modules -exec rm -rf {} +'),
    (
        "delete-folder",
        "find . \\( -name node_modules -o -name assets \\) -exec rm -rf {} +",
    ),
    ("delete-folder", "find . -name __pycache__ -exec rm -rf {} assets \\;"),
    ("delete-folder", "find . -name __pycache__ -exec rm -rf {}/../.. \\;"),
    ("delete-folder", "find . -name __pycache__ -exec sh -c 'rm -rf ~' \\;"),
    ("delete-folder", "find . -name assets -print0 | xargs -0 rm -rf"),
    ("delete-folder", 'for d in build assets; do rm -rf "$d"; done; python -m build'),
    ("delete-folder", "find . -name dist -exec rm -rf {} + || npm run build"),
    ("delete-file", "find . -name '*.py' -exec rm {} +"),
    ("delete-file", "find . -name '*.pyc' -exec rm {} + -o -exec rm {} +"),
)
_HARMLESS = (
    "rm -rf *.egg-info build && python -m build",
    "find . -name node_modules -prune -exec rm -rf '{}' +",
    "if [ -d build ]; then rm -rf build; fi && npm run build",
    "find . -name __pycache__ -type d -exec rm -r {} +",
    "find . -name '*.pyc' -exec rm -f {} ';'",
    "find . \\( -name __pycache__ -o -name .ruff_cache \\) -type d -prune -exec rm -rf {} +",
    "find lib -name '*.py[co]' -delete",
    "find . -path ./vendor -prune -o -name '*.pyc' -exec rm {} +",
    "find web -name node_modules -type d -prune -print0 | xargs -0 rm -rf",
    "find . -name '*.tsbuildinfo' -not -path '*/vendor/*' -delete",
    "find . -maxdepth 2 -name '*.egg-info' -exec rm -r {} \\;",
    "find . \\( -name bin -o -name obj \\) -prune -exec rm -rf {} +; dotnet build",
    "find apps -name dist -exec rm -rf {} + && pnpm build",
    "find . -path '*/__pycache__/*' -delete",
    'for d in build dist; do [ -d "$d" ] && rm -rf "$d"; done; python -m build',
    "for d in node_modules .next; do rm -rf $d; done",
)
PASSES = tuple(("", command) for command in _HARMLESS)
