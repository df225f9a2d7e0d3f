"""Parts of statements that other apps write by hand, because an agent waits for them.

What they may know of the tables of accounts is here; each names the row that it joins.
"""

from __future__ import annotations

# The ids of an agent's valid keys; `%s` is the agent's id.
VALID_KEY_IDS = (
    "SELECT valid.id FROM accounts_agentkey valid "
    "WHERE valid.agent_id = %s::bigint AND valid.revoked_at IS NULL"
)
# A row if the key with this id is valid, and otherwise none.
VALID_KEY = "SELECT id FROM accounts_agentkey WHERE id = %s AND revoked_at IS NULL"
# No rows at all if the key with this id was revoked.
JOIN_VALID_KEY = (
    "JOIN accounts_agentkey valid ON valid.id = %s AND valid.revoked_at IS NULL"
)


def join_member(project: str) -> str:
    """No rows for a person who is not a member; `%s` is their id, `project` a column."""
    return (
        "JOIN accounts_membership member "
        f"ON member.project_id = {project} AND member.user_id = %s"
    )


def join_user(alias: str, column: str) -> str:
    """A person's `id` and `username`, if there is one."""
    return f"LEFT JOIN accounts_user {alias} ON {alias}.id = {column}"


def join_agent(alias: str, column: str) -> str:
    """An agent's `id` and `name`."""
    return f"JOIN accounts_agent {alias} ON {alias}.id = {column}"


def join_project(alias: str, column: str) -> str:
    """A project's `id` and `slug`."""
    return f"JOIN accounts_project {alias} ON {alias}.id = {column}"
