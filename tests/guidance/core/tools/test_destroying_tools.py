"""Tools that destroy, by their name or the action they are given, and their look-alikes."""

from __future__ import annotations

from typing import Any

from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.calls import EditCall
from tests.guidance.core.tools.builders import judged, use
from tests.support.rows import each_row

DESTROYING: list[tuple[str, dict[str, Any], str]] = [
    ("mcp__files__delete_file", {"path": "/srv/shop/orders.db"}, "tool-delete"),
    (
        "mcp__files__remove_directory",
        {"path": "shop", "recursive": True},
        "tool-delete",
    ),
    ("mcp__files__delete_files", {"paths": ["a/b", "/srv/b"]}, "tool-delete"),
    ("mcp__mongo__drop-collection", {"collection": "orders"}, "tool-delete"),
    ("mcp__mongo__drop_index", {"name": "by_date"}, "tool-delete"),
    ("mcp__mongo__delete-many", {"filter": {}}, "tool-delete"),
    ("mcp__search__purgeIndex", {"index": "people"}, "tool-delete"),
    ("mcp__host__deleteRepository", {"owner": "o", "repo": "r"}, "tool-delete"),
    ("mcp__host__branch_delete", {"branch": "main"}, "tool-delete"),
    ("mcp__db__reset_branch", {"branch": "main"}, "tool-delete"),
    ("mcp__db__reset_database", {}, "tool-delete"),
    ("mcp__db__truncate_table", {"table": "orders"}, "tool-delete"),
    ("mcp__queue__clear_queue", {"name": "mail"}, "tool-delete"),
    ("mcp__cloud__terminate_instances", {"ids": ["i-1"]}, "tool-delete"),
    ("mcp__cloud__RDSDeleteCluster", {"name": "shop"}, "tool-delete"),
    ("mcp__cloud__revoke_access", {"user": "ann"}, "tool-delete"),
    ("mcp__team__remove_members", {"team": "core"}, "tool-delete"),
    ("kubectl_delete", {"kind": "ns", "name": "shop"}, "tool-delete"),
    ("volume.remove", {"name": "pg"}, "tool-delete"),
    ("manage_server", {"action": "terminate", "id": 7}, "tool-delete"),
    ("cloud_api", {"operation": "DeleteBucket", "name": "b"}, "tool-delete"),
    ("cloud_api", {"operation_name": "purge_queue"}, "tool-delete"),
    (
        "http_request",
        {"method": "DELETE", "url": "https://x.invalid/v1"},
        "http-delete",
    ),
    ("git_push", {"branch": "main", "force": True}, "git-push-force"),
    ("git_clean", {"force": True}, "git-clean"),
    ("tf_apply", {"auto_approve": True}, "infrastructure-apply"),
    (
        "fetch",
        {"url": "https://x.invalid", "init": {"method": "delete"}},
        "http-delete",
    ),
    ("mcp__cache__flushdb", {}, "tool-delete"),
    ("call_cloud", {"cli_command": "aws s3 rb s3://shop"}, "object-delete"),
    ("mcp__drive__empty_trash", {}, "tool-delete"),
    ("mcp__store__delete", {"key": "session:*"}, "tool-delete"),
    ("mcp__host__delete_file", {"path": "a.py", "branch": "main"}, "tool-delete"),
    ("git_reset", {"mode": "hard"}, "git-reset-hard"),
    ("mcp__stripe__create_refund", {"payment": "p1", "amount": 9}, "tool-payment"),
    ("mcp__bank__create_payout", {"amount": 9}, "tool-payment"),
    ("mcp__paddle__cancel_subscription", {"id": "s1"}, "tool-payment"),
    ("mcp__wise__transfer_funds", {"amount": 9}, "tool-payment"),
    ("refundOrder", {"order": 7}, "tool-payment"),
    (
        "mcp__host__merge_pull_request",
        {"number": 7, "bypass_rules": True},
        "tool-bypass",
    ),
    ("deploy", {"env": "prod", "skip_approval": True}, "tool-bypass"),
    ("mcp__notes__archive_database", {"id": "d1"}, "tool-delete"),
    ("mcp__host__archive_repository", {"repo": "r"}, "tool-delete"),
]

HARMLESS: list[tuple[str, dict[str, Any]]] = [
    ("mcp__stripe__list_refunds", {"limit": 5}),
    ("mcp__stripe__retrieve_payout", {"id": "p1"}),
    ("mcp__stripe__create_customer", {"email": "a@example.com"}),
    ("mcp__mail__send_message", {"to": "a@example.com"}),
    ("mcp__ci__cancel_run", {"id": 7}),
    ("mcp__stripe__create_refund", {"payment": "p1", "dry_run": True}),
    ("mcp__host__merge_pull_request", {"number": 7, "bypass_rules": False}),
    ("mcp__chat__archive_channel", {"id": "c1"}),
    ("mcp__mail__archive_message", {"id": "m1"}),
    ("mcp__mail__delete_draft", {"id": 1}),
    ("mcp__host__remove_label", {"label": "bug"}),
    ("mcp__host__remove_assignees", {"names": ["ann"]}),
    ("mcp__memory__delete_observations", {"deletions": []}),
    ("mcp__memory__delete_entities", {"names": ["shop"]}),
    ("mcp__browser__clear_cookies", {}),
    ("browser_reset_view", {}),
    ("browser_drop", {"ref": "e4"}),
    ("drag_and_drop", {"from": "a", "to": "b"}),
    ("clear_console", {}),
    ("kill_shell", {"id": 1}),
    ("terminate_process", {"pid": 4}),
    ("git_reset", {"files": ["a.py"]}),
    ("git_push", {"force": False}),
    ("git_clean", {"dry_run": True}),
    ("call_cloud", {"cli_command": "aws s3 ls"}),
    ("tf_apply", {"auto_approve": False}),
    ("fetch", {"url": "http://localhost:3000/a", "init": {"method": "DELETE"}}),
    ("mcp__store__delete", {"key": "session:1"}),
    ("mcp__chrome__remove_network_conditions", {}),
    ("mcp__host__force_terminate", {"pid": 4}),
    ("drop_down_select", {"value": "a"}),
    ("check_empty_state", {}),
    ("reset_form", {}),
    ("get_delete_status", {"id": 1}),
    ("list_deleted_items", {}),
    ("undelete_file", {"path": "a"}),
    ("restore_deleted", {"id": 1}),
    ("soft_delete_user", {"id": 1}),
    ("preview_delete", {"id": 1}),
    ("create_delete_request", {"id": 1}),
    ("mcp__drop__list_files", {}),
    ("mcp__mongo__delete-many", {"filter": {"state": "old"}}),
    ("mcp__cloud__delete_instance", {"id": "i-1", "dryRun": True}),
    ("mcp__files__delete_file", {"path": "/tmp/scratch/a.txt"}),  # noqa: S108
    ("mcp__files__remove_directory", {"path": "app/node_modules"}),
    ("http_request", {"method": "DELETE", "url": "http://localhost:8000/items/1"}),
    ("http_request", {"method": "GET", "url": "https://x.invalid/delete"}),
    ("manage_labels", {"action": "delete", "label": "bug"}),
    ("manage_server", {"action": "list_deleted"}),
    ("write", {"mode": "drop"}),
    ("search", {"query": "how to delete a repository", "mode": "web"}),
    ("todo_write", {"todos": [{"content": "delete the branch"}]}),
]


@each_row(("tool", "arguments", "rule"), DESTROYING)
def test_a_tool_that_destroys_is_asked_about(
    tool: str, arguments: dict[str, Any], rule: str
) -> None:
    verdict = judged(use(tool, **arguments))
    assert verdict.decision == "require-confirmation"
    (finding,) = verdict.findings
    assert (finding.gate, finding.details["rule"]) == ("destructive", rule)
    assert finding.details["severity"] == RULES[rule].severity
    assert finding.remediation == RULES[rule].advice


@each_row(("tool", "arguments"), HARMLESS)
def test_a_look_alike_passes(tool: str, arguments: dict[str, Any]) -> None:
    assert judged(use(tool, **arguments)).findings == ()


def test_one_named_file_is_only_warned_of_as_rm_would_be() -> None:
    verdict = judged(use("delete_file", target_file="src/old_name.py"))
    assert verdict.decision == "warn"
    assert [found.details["rule"] for found in verdict.findings] == [
        "delete-named-file"
    ]


@each_row(
    ("path", "content", "rule"),
    [
        (".env", "", "empty-file"),
        ("src/app.py", " \n", "empty-file"),
        ("/etc/fstab", "# nothing\n", "overwrite-system-file"),
        ("src/app.py", "print(1)\n", None),
        ("shop/terraform.tfstate", "{}", "overwrite-file"),
        ("pkg/__init__.py", "", None),
        ("docs/.gitkeep", "", None),
        ("/tmp/list.txt", "", None),  # noqa: S108
    ],
)
def test_a_file_that_is_written_empty_is_asked_about(
    path: str, content: str, rule: str | None
) -> None:
    by_edit = EditCall(tool="Write", file_path=path, content=content)
    by_tool = use("mcp__files__write_file", path=path, content=content)
    for call in (by_edit, by_tool):
        found = [finding.details.get("rule") for finding in judged(call).findings]
        assert found == ([rule] if rule else [])


def test_the_policy_says_what_it_leads_to() -> None:
    call = use("delete_site", id=1)
    assert judged(call, rules={"tool-delete": "allow"}).findings == ()
    assert judged(call, rules={"tool-*": "block"}).decision == "block"
