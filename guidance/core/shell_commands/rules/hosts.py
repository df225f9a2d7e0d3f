"""Code hosts: repositories deleted, or opened and closed to others."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="repository-delete",
        severity="critical",
        message="Deletes something on the code host",
        why="Issues, reviews, releases and secrets there have no other copy.",
        safer="Export it first, or ask its owner to archive it.",
        rollback="an export or mirror clone.",
        patterns=(
            "gh * delete|delete-asset|remove|*-delete !alias|extension|config|auth",
            "gh api -X=DELETE|--method=DELETE",
            "gh api|graphql @deleting-by-path",
            "gh|glab api @deleting",
            "gh pr close -d|--delete-branch",
            "glab * delete !alias|config|auth",
            "glab api -X=DELETE|--method=DELETE",
            "tea * delete|rm|remove !login|logins",
            "hub delete",
            "hub release delete",
        ),
        trips=(
            "gh repo delete owner/name --yes",
            "gh release delete v1",
            "gh api -X DELETE repos/o/n",
            "glab api -X DELETE projects/7",
            "gh project item-delete 4 --id x",
        ),
        passes=(
            "gh repo view",
            "gh api repos/o/n",
            "gh pr list",
            "gh alias delete co",
            "glab mr list",
        ),
    ),
    Rule(
        name="repository-settings",
        message="Changes who sees, owns or may push to a repository",
        why="Stars and forks are lost, or work that was private stands in the open.",
        safer="Ask its owner, and note the settings as they are.",
        rollback="the old settings; forks and stars do not come back.",
        patterns=(
            "gh repo edit --visibility|--accept-visibility-change-consequences",
            "gh repo archive|rename",
            "glab repo transfer|archive",
            "gh workflow disable",
            "gh api -X=PUT|-X=PATCH|--method=PUT|--method=PATCH @changes-protection",
        ),
        trips=(
            "gh repo edit o/n --visibility public",
            "gh api -X PATCH repos/o/n -f visibility=public",
        ),
        passes=("gh repo edit --description x", "gh repo list --visibility public"),
    ),
)
