"""Parts of statements that other apps write by hand, because an agent waits for them.

What they may know of the tables of accounts is here; each names the row that it joins.
"""

from __future__ import annotations

# As `accounts.auth.list_valid_keys`: not revoked, not expired, its agent not disabled.
_IS_VALID = (
    "valid.revoked_at IS NULL "
    "AND (valid.expires_at IS NULL OR valid.expires_at > CURRENT_TIMESTAMP) "
    "AND NOT EXISTS (SELECT 1 FROM accounts_agent disabled "
    "WHERE disabled.id = valid.agent_id AND disabled.disabled_at IS NOT NULL)"
)
# The ids of an agent's valid keys; `%s` is the agent's id.
VALID_KEY_IDS = (
    "SELECT valid.id FROM accounts_agentkey valid "  # noqa: S608 (constants)
    f"WHERE valid.agent_id = %s::bigint AND {_IS_VALID}"
)
# A row if the key with this id is valid, and otherwise none.
VALID_KEY = (
    f"SELECT valid.id FROM accounts_agentkey valid WHERE valid.id = %s AND {_IS_VALID}"  # noqa: S608
)
# No rows at all if the key with this id is not valid.
JOIN_VALID_KEY = f"JOIN accounts_agentkey valid ON valid.id = %s AND {_IS_VALID}"


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
