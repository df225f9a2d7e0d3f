"""Tools that read passwords, send files, answer reviews or destroy, and their harmless likes."""

from __future__ import annotations

from guidance.core.tools.calls import Call, EditCall
from tests.guidance.core.tools.builders import judged, use
from tests.guidance.core.tools.held_tools import HELD
from tests.support.rows import each_row

PASSED: list[Call] = [
    use("mcp__browser__click", url="http://localhost:3000/cart", selector="button.buy"),
    use("browser_click", selector="#allow-cookies", url="https://example.com"),
    use("browser_navigate", url="http://localhost:3000/reviews/77"),
    use(
        "mcp__browser__click",
        url="http://localhost:3000/products/1/reviews",
        selector="button.write-review",
    ),
    use("WebSearch", query="how to approve checkrail reviews"),
    use("mcp__github__create_pull_request_review", event="APPROVE", pullNumber=3),
    use(
        "mcp__browser__click",
        selector="text=Approve",
        url="https://github.com/a/b/pull/3/files",
    ),
    use("mcp__onepassword__list_vaults"),
    use("mcp__onepassword__list_items", vault="Infra"),
    use("mcp__bitwarden__status"),
    use("mcp__vault__list_mounts"),
    use("mcp__obsidian_vault__read_note", path="todo.md"),
    use("mcp__doppler__list_projects"),
    use("mcp__vault__health"),
    use("mcp__slack__post_message", channel="#dev", text="done"),
    use("mcp__github__create_or_update_file", path="src/a.py", content="x=1"),
    use("mcp__slack__download_file", path="shots/x.png"),
    use("mcp__playwright__browser_file_upload", paths=["tests/fixtures/a.png"]),
    use("mcp__github__push_files", files=[{"path": "a.py", "content": "x"}]),
    use("mcp__figma__post_comment", file="abc", message="hi"),
    use("mcp__notion__post_page", path="docs/x"),
    EditCall(
        tool="Write",
        file_path="package.json",
        content='{"scripts":{"clean":"rm -rf dist build","test":"jest"}}',
    ),
    EditCall(
        tool="Write",
        file_path="Makefile",
        content="clean:\n\trm -rf build dist *.egg-info\n",
    ),
    EditCall(
        tool="Write",
        file_path="package.json",
        content='{"scripts":{"reset":"prisma migrate reset","db:drop":"dropdb shop_dev"}}',
    ),
    use("mcp__filesystem__move_file", source="a.py", destination="src/a.py"),
    use(
        "mcp__http__request",
        method="POST",
        url="http://localhost:9200/orders/_search",
        body="{}",
    ),
    use(
        "mcp__http__request", method="GET", url="https://api.example.com/v1/users/purge"
    ),
    use("mcp__http__request", method="POST", url="http://localhost:3000/items/purge"),
    EditCall(
        tool="Write",
        file_path="docs/api.md",
        content="POST /api/v1/reviews/{id}/ruling rules.",
    ),
    EditCall(
        tool="Write", file_path="notes.py", content="# reviews and rulings\nx = 1"
    ),
    EditCall(
        tool="Write",
        file_path="agent.py",
        content="from checkrail import Client\nwith Client() as c:\n    run = c.start(task='x')\n    run.finish()",
    ),
    use("Read", file_path=".env.example"),
    use("Grep", pattern="password", path="src"),
    use("mcp__kubernetes__list_secrets", namespace="prod"),
    use("WebFetch", url="https://docs.example.com", prompt="x"),
    use("mcp__slack__post_message", channel="#dev", text="tests pass"),
    use("mcp__github__update_repository", repo="x", description="y"),
    EditCall(
        tool="Write",
        file_path=".github/workflows/test.yml",
        content="on: push\njobs:\n  a:\n    steps:\n      - run: npm test",
    ),
    use("mcp__filesystem__read_file", path="src/a.py"),
    use("mcp__filesystem__write_file", path="src/a.py", content="x = 1"),
    use("mcp__postgres__query", sql="SELECT * FROM users LIMIT 5"),
    use("mcp__postgres__query", sql="DELETE FROM users WHERE id = 4"),
    use("mcp__github__list_branches", repo="x"),
    use("mcp__github__create_branch", branch="x"),
    use("mcp__k8s__get", kind="pods"),
    use("mcp__k8s__scale", deployment="api", replicas=3),
    use("mcp__docker__list_volumes"),
    use("mcp__redis__get", key="x"),
    use("mcp__browser__evaluate", script="document.title"),
    use("mcp__playwright__browser_evaluate", function="() => fetch('/api/users')"),
    use("mcp__graphql__query", query="query { users { id } }"),
    use("mcp__http__fetch", method="GET", url="https://api.x.invalid/u"),
    use("mcp__git__status"),
    use("mcp__git__push", branch="feature"),
    use("mcp__python__run", code="print(1)"),
    use("mcp__memory__delete_entities", names=["x"]),
    use("mcp__notion__update_page", id="x", title="y"),
    use("mcp__jira__transition_issue", key="X-1", to="Done"),
    use("TodoWrite", todos=[{"content": "delete the old table"}]),
    use("mcp__gmail__create_draft", to="a@b.c", body="delete it"),
    use("mcp__k8s__patch", patch=[{"op": "remove", "path": "/metadata/labels/x"}]),
    use("mcp__editor__apply", operations=[{"op": "delete", "line": 4}]),
    use("mcp__kubernetes__kubectl", args="get pods"),
    use("mcp__docker__run", args=["ps", "-a"]),
    use("mcp__git__log", args="-5"),
    use("mcp__aws__cli", command="s3 ls"),
    use("mcp__notion__update_page", id="x"),
    use("mcp__pdf__remove_page", page=3),
    use("mcp__sandbox__exec", language="bash", code="ls"),
    use("mcp__sandbox__exec", language="python", code="print(1)"),
    use("mcp__fs__batch", operations=[{"op": "read", "path": "/srv/a"}]),
    use("mcp__graphql__query", query="query { deletedUsers { id } }"),
    use("mcp__github__graphql", query="mutation { addComment(input: {}) { id } }"),
    use("mcp__gitlab__push", branch="main"),
    use("mcp__k8s__validate", manifest="kind: CronJob\nspec: {}"),
    use("mcp__k8s__explain", resource="daemonset"),
    use("mcp__github__create_repository", name="x", private=True),
    use("mcp__gcal__create_event", title="x", private=True),
    use("mcp__config__get", name="theme"),
    use("mcp__env__list"),
    use(
        "mcp__browser__click",
        selector="button.accept-all",
        url="http://localhost:3000/settings",
    ),
    use(
        "mcp__browser__click",
        selector="text=Confirm order",
        url="http://localhost:3000/checkout",
    ),
    use("mcp__jira__approve_request", id="X-1"),
    use("mcp__slack__upload_file", path="screenshots/login.png"),
    use(
        "mcp__github__create_pull_request", title="Allow reviews", body="see /reviews/3"
    ),
    use("mcp__playwright__browser_navigate", url="http://localhost:3000/reviews/3"),
    EditCall(
        tool="Write",
        file_path="src/reviews.ts",
        content="router.post('/reviews/:id/approve', approve)",
    ),
    EditCall(
        tool="Write",
        file_path="src/api.py",
        content="@app.post('/api/v1/users')\ndef make(): ...\nrequests.post(url)",
    ),
    EditCall(
        tool="Write",
        file_path="Makefile",
        content="install:\n\tinstall -m 755 x /usr/local/bin/x\nclean:\n\trm -rf build ./dist *.o\n",
    ),
    EditCall(
        tool="Write",
        file_path="package.json",
        content='{"scripts":{"clean":"rimraf dist","build":"rm -rf ./lib && tsc"}}',
    ),
    use("mcp__docker__run", args=["run", "--rm", "node:20", "npm", "test"]),
    use("mcp__git__command", args=["commit", "-m", "delete old code"]),
    use("mcp__aws__cli", command="ec2 describe-instances"),
    use(
        "mcp__fs__batch", operations=[{"op": "write", "path": "a.txt", "content": "x"}]
    ),
    use("mcp__sandbox__exec", language="javascript", code="console.log(1)"),
    use("mcp__graphql__mutate", query='mutation { createUser(name: "x") { id } }'),
    use("mcp__browser__navigate", url="https://checkrail.example.com/p/x/queue/3/"),
    use("mcp__checkrail__start_run", task="x"),
    use("mcp__checkrail__report_step", run="3"),
    use("mcp__checkrail__check_tool_call", name="Bash"),
    use("mcp__checkrail__request_approval", reason="deploy"),
    use("mcp__checkrail__wait_for_decision", run="3"),
    use("mcp__checkrail__get_decision", run="3"),
    use("mcp__slack__create_channel", name="x", is_private=False),
    use("mcp__meetup__create_event", title="x", public=True),
    use("mcp__slack__send_message", channel="claude", text="I send it to claude"),
    use("Task", prompt="Ask claude to type the key points", subagent_type="x"),
    use("Edit", file_path="a.py", new_string="from reviews.models import Review"),
    use("mcp__fs__list_directory", path="/home/me/.config/checkrail"),
    use("mcp__checkrail__ask", question="x"),
    use("mcp__checkrail__wait", run="3"),
    use("mcp__checkrail__list_reviews"),
    use("mcp__docker__logs", container="checkrail"),
    use("mcp__fs__read_file", path=".claude/settings.json"),
    use("mcp__github__search_code", query="checkrail approve"),
    use("WebSearch", query="checkrail disable hooks"),
    use("mcp__env__set", name="NODE_ENV", value="test"),
    use("mcp__tmux__send_keys", target="dev:0", text="npm test"),
    use("Task", prompt="explain how checkrail approves reviews", subagent_type="x"),
    use("mcp__memory__add", text="checkrail approve needs a person"),
    use("mcp__docker__stop_container", name="shop-web"),
    use("mcp__db__query", sql="select * from reviews where id=3"),
    use("mcp__fs__read_file", path="docs/checkrail.md"),
    use("mcp__tmux__list_sessions"),
    use(
        "mcp__slack__send_message", channel="#dev", text="ask for a checkrail approval"
    ),
    use("mcp__checkrail__finish_run", run="3"),
    use("mcp__checkrail__save_checkpoint", run="3"),
]


@each_row("call", HELD)
def test_it_is_asked_about(call: Call) -> None:
    assert judged(call).decision in ("require-confirmation", "block")


@each_row("call", PASSED)
def test_it_only_looks_like_it(call: Call) -> None:
    assert judged(call).decision == "allow"
