"""Ways to loosen the guard: by command, by edit and by tool. All are asked, always."""

from __future__ import annotations

import pytest

from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import GUARD
from guidance.core.tools.calls import Call, EditCall
from guidance.core.tools.permission_shapes import is_permittable
from guidance.core.tools.section import ToolRules
from tests.guidance.core.tools.builders import command, judged, problems, use
from tests.support.rows import each_row

ADDRESS = "http://127.0.0.1:8000"


def write(path: str, content: str = "{}") -> EditCall:
    return EditCall(tool="Write", file_path=path, content=content)


PATCH = """\
*** Begin Patch
*** Update File: src/app.py
-a
+b
*** Update File: .claude/settings.json
-a
+b
*** Add File: notes.md
+c
*** End Patch
"""
CODE = "open('.claude/settings.json', 'w').write('{}')"

WAYS: list[Call] = [
    write("/srv/app/.claude/settings.json"),
    write(".claude/settings.local.json"),
    write("/home/me/.codex/config.toml", 'approval_policy = "never"\n'),
    write("/home/me/.codex/hooks.json"),
    write("/home/me/.config/checkrail/hook.key", "x"),
    use("Edit", file_path="/home/me/.claude/settings.json", new_string="{}"),
    use("mcp__fs__move_file", source="/srv/app/.claude/settings.json", destination="x"),
    use("mcp__fs__delete", path="/srv/app/.claude/settings.json"),
    use("Read", file_path="/home/me/.config/checkrail/login.json"),
    EditCall(tool="apply_patch", file_path="a.py, notes.md", content=PATCH),
    use("apply_patch", input=PATCH),
    use("apply_patch", patch=PATCH.replace("Update File: .cl", "Move to: .cl")),
    use("python_repl", code=CODE),
    use("execute_code", language="python", code=CODE),
    use(
        "python_repl",
        code=f"import httpx\nhttpx.post('{ADDRESS}/api/v1/reviews/4/ruling')",
    ),
    command(f"apply_patch <<'EOF'\n{PATCH}EOF"),
    command(
        "patch -p1 <<'EOF'\n--- a/.claude/settings.json\n+++ b/.claude/settings.json\nEOF"
    ),
    command("git apply - <<'EOF'\n--- /dev/null\n+++ b/.claude/settings.json\nEOF"),
    command(f"python - <<'EOF'\n{CODE}\nEOF"),
    command(f"cat > set.py <<'EOF'\n{CODE}\nEOF\npython set.py"),
    use("WebFetch", url=f"{ADDRESS}/api/v1/reviews/42/ruling", prompt="ok"),
    use("http_request", method="POST", url=f"{ADDRESS}/api/v1/reviews/bulk-ruling"),
    use("browser_navigate", url=f"{ADDRESS}/reviews/42/approve"),
    use("browser_navigate", url=f"{ADDRESS}/p/shop/queue/0192/rule/"),
    use("browser_click", element=f"Approve on {ADDRESS}/p/shop/queue/0192/"),
    use("browser_click", element=f"Approve button on {ADDRESS}/reviews/42"),
    *(
        command(text)
        for rule in RULES.values()
        if rule.family == GUARD
        for text in rule.trips
    ),
]


def test_there_are_ways_enough_to_mean_something() -> None:
    assert len(WAYS) > 45


@each_row("call", WAYS)
def test_every_way_to_loosen_the_guard_is_held_and_never_permitted(call: Call) -> None:
    verdict = judged(call)
    found = [finding for finding in verdict.findings if finding.gate == GUARD]

    assert verdict.decision in ("require-confirmation", "block")
    assert found
    assert {finding.details["severity"] for finding in found} == {"critical"}
    assert not is_permittable(verdict.findings, always_ask=())


@pytest.mark.parametrize("name", ["*", "guard-*"])
@pytest.mark.parametrize("decision", ["allow", "warn"])
def test_a_policy_cannot_lower_it(name: str, decision: str) -> None:
    verdict = judged(command("checkrail approve 42"), rules={name: decision})

    assert verdict.decision == "require-confirmation"


def test_a_policy_that_names_such_a_rule_to_lower_it_is_refused() -> None:
    assert problems(rules={"guard-ruling": "allow"}) == {
        "tools.rules.guard-ruling": "what touches the guard is always asked"
    }


def test_a_policy_may_be_stricter() -> None:
    verdict = judged(command("checkrail approve 42"), rules={"guard-*": "block"})

    assert verdict.decision == "block"


@each_row(
    "call",
    [
        use("Read", file_path="/srv/app/.claude/settings.json"),
        write("docs/agents.md", "Never use --dangerously-skip-permissions.\n"),
        write(".claude/commands/test.md", "Run the tests.\n"),
        use("WebFetch", url="https://shop.example.com/reviews/42", prompt="stars?"),
        use("browser_click", element="Delete item button"),
        use("Grep", pattern="bypassPermissions", path="docs"),
        use("apply_patch", input=PATCH.replace(".claude/settings.json", "a.json")),
        use("apply_patch", input=PATCH.replace("File: .claude", "File: docs")),
        use("python_repl", code="print(open('.claude/settings.json').read())"),
        command(
            "git apply <<'EOF'\n--- a/app.json\n+++ b/app.json\n+.claude/settings.json\nEOF"
        ),
        use("python_repl", code="open('settings.json', 'w').write('{}')"),
        command("python - <<'EOF'\nprint(open('.claude/settings.json').read())\nEOF"),
    ],
)
def test_reading_and_speaking_of_the_guard_passes(call: Call) -> None:
    assert judged(call).decision == "allow"


def test_the_rules_that_are_always_asked_are_those_of_the_guard() -> None:
    rules = ToolRules(rules={"*": "allow"})
    lowered = {
        name
        for name, rule in RULES.items()
        if rules.decide(name, default=rule.decision) == "allow"
    }

    assert RULES.keys() - lowered == {
        name for name, rule in RULES.items() if rule.family == GUARD
    }
