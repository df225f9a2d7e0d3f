"""Package registries: versions withdrawn, owners removed."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="package-unpublish",
        message="Withdraws a published package",
        why="Everybody who depends on it breaks, and the version is burnt.",
        safer="Publish a fix under a new version.",
        rollback="none: most registries never take the version back.",
        patterns=(
            "npm|yarn|pnpm unpublish|unpublis|unpubli|unpubl|unpub",
            "npm|yarn|pnpm npm unpublish",
            "cargo yank !--undo",
            "gem yank",
            "nuget|dotnet ** delete",
            "mix hex.publish --revert",
            "mix hex.retire",
            "vsce|ovsx unpublish",
            "pod trunk delete",
            "conan remove",
            "jf|jfrog rt|rt:del del|delete",
            "cloudsmith delete",
            "pypi-cleanup --do-it",
        ),
        trips=(
            "npm unpublish pkg --force",
            "cargo yank --version 1.0.0",
            "mix hex.publish --revert 1.0.2",
            "pod trunk delete Shop 1.0.0",
        ),
        passes=(
            "npm publish",
            "npm uninstall left-pad",
            "cargo build",
            "mix hex.publish",
        ),
    ),
    Rule(
        name="package-settings",
        severity="medium",
        message="Changes what a package registry tells everybody about a package",
        why="Installs resolve to another version, or its owners are locked out.",
        safer="Add the new tag or owner first, and look at the list.",
        rollback="the tags and owners as they are now, written down.",
        patterns=(
            "npm|pnpm owner|dist-tag|dist-tags|tag|team|org|hook rm|remove|del|destroy",
            "npm|pnpm deprecate|undeprecate",
            "npm|pnpm token revoke|delete|rm",
            "npm|pnpm access revoke",
            "yarn owner|tag|team|npm remove|rm|revoke",
            "yarn npm tag remove|rm",
            "cargo owner --remove|-r",
            "gem owner -r|--remove",
            "mix hex.owner remove",
            "pod trunk deprecate|remove-owner",
        ),
        trips=(
            "npm owner rm ann shop",
            "npm dist-tag rm shop latest",
            "npm deprecate shop@1 old",
            "cargo owner --remove ann shop",
        ),
        passes=("npm owner ls shop", "npm dist-tag add shop@2 latest", "npm rm shop"),
    ),
)
