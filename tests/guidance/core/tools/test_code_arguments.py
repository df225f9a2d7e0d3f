"""What an interpreter is given is read as code of its language, and nothing else is."""

from __future__ import annotations

from typing import Any

from tests.guidance.core.tools.builders import judged, use
from tests.support.rows import each_row

TREE = "import shutil\nshutil.rmtree('/srv/photos')\n"
NODE = "require('fs').rmSync('photos', {recursive: true})"


def rules_of(tool: str, **arguments: Any) -> list[str]:
    return [
        finding.details["rule"] for finding in judged(use(tool, **arguments)).findings
    ]


@each_row(
    ("tool", "argument", "code", "rule"),
    [
        ("python_repl", "code", TREE, "code-delete"),
        ("PythonREPL", "query", TREE, "code-delete"),
        ("ipython", "Code", TREE, "code-delete"),
        ("mcp__jupyter__run_cell", "cells", ["x = 1", TREE], "code-delete"),
        ("mcp__ide__executeCode", "code", TREE, "code-delete"),
        ("code_interpreter", "input", TREE, "code-delete"),
        ("run_python_script", "script", TREE, "code-delete"),
        ("python3_exec", "source_code", TREE, "code-delete"),
        ("python_repl", "code", "import os\nos.system('git reset --hard')", "git-"),
        ("python_repl", "code", "subprocess.run(['git', 'push', '-f'])", "git-push"),
        ("python_repl", "code", "db.execute('DROP TABLE orders')", "sql-drop"),
        ("python_repl", "code", "exec(base64.b64decode(blob))", "opaque-code"),
        ("notebook_run", "cell", "files = 1\n!rm -rf photos\n", "delete-folder"),
        ("notebook_run", "cell", "gone = !rm -rf photos", "delete-folder"),
        ("notebook_run", "cell", "%%bash\ncd photos\nrm -rf 2024\n", "delete-folder"),
        ("execute_javascript", "script", NODE, "code-delete"),
        ("node_eval", "expression", NODE, "code-delete"),
        ("run_code", "code", NODE, "code-delete"),
        ("mcp__browser__browser_evaluate", "function", f"() => {NODE}", "code-delete"),
        ("ruby_eval", "code", "FileUtils.rm_rf('photos')", "code-delete"),
        ("php_run", "code", "unlink('photos/1.jpg');", "code-delete"),
        ("run_sql", "query", "DROP TABLE orders", "sql-drop"),
        ("mcp__db__search_rows", "query", "DROP TABLE orders", "sql-drop"),
        ("run_sql", "script", "SELECT 1; TRUNCATE orders", "sql-truncate"),
        ("mcp__postgres__execute", "text", "DELETE FROM orders", "sql-delete-all"),
    ],
)
def test_code_that_destroys_is_asked_about(
    tool: str, argument: str, code: Any, rule: str
) -> None:
    found = rules_of(tool, **{argument: code})
    assert any(name.startswith(rule) for name in found), found


@each_row(
    ("language", "code", "rule"),
    [
        ("python", TREE, "code-delete"),
        ("Python 3", TREE, "code-delete"),
        ("javascript", NODE, "code-delete"),
        ("bash", "rm -rf photos", "delete-folder"),
        ("SQL", "DROP TABLE orders", "sql-drop"),
    ],
)
def test_an_argument_beside_the_code_says_its_language(
    language: str, code: str, rule: str
) -> None:
    assert rules_of("run_code", language=language, code=code) == [rule]
    assert rules_of("sandbox_interpreter", lang=language, snippet=code) == [rule]


@each_row(
    ("tool", "argument", "code"),
    [
        ("python_repl", "code", "import os\nprint(os.listdir('photos'))"),
        ("python_repl", "code", "shutil.rmtree('/tmp/photos')"),
        ("python_repl", "code", "# os.remove('x')\nprint('shutil.rmtree(1)')"),
        # A shell would take these for commands whose names cannot be known.
        ("python_repl", "script", "rows = [r for r in data if r[0] != 'x']\nrows[0]()"),
        (
            "mcp__puppeteer__puppeteer_evaluate",
            "script",
            "[...document.querySelectorAll('[data-row]')].map(r => r.innerText)",
        ),
        ("execute_javascript", "script", "return `${document.title} $(rm -rf x)`"),
        ("notebook_run", "cell", "%%bash\nls photos\n"),
        ("run_sql", "script", "DELETE FROM orders WHERE id = 7"),
        # Nothing of this is run.
        ("format_python", "code", TREE),
        ("search_code", "code", TREE),
        ("explain_javascript", "script_text", NODE),
        ("mcp__browser__browser_type", "text", TREE),
        ("write_notebook", "cell", TREE),
        ("send_mail", "text", TREE),
        ("WebSearch", "query", "drop table if exists behaviour"),
        ("mcp__brave__brave_web_search", "query", "truncate table lock level"),
    ],
)
def test_other_code_and_other_tools_are_not(
    tool: str, argument: str, code: str
) -> None:
    assert judged(use(tool, **{argument: code})).decision == "allow"


def test_a_tool_without_a_language_is_read_as_the_policy_marks_it() -> None:
    assert rules_of("deploy", script="rm -rf photos") == ["delete-folder"]
    assert rules_of("run_shell", script="rm -rf photos") == ["delete-folder"]
    assert rules_of("python_shell", command="rm -rf photos") == ["delete-folder"]


def test_the_place_of_the_code_is_told() -> None:
    (finding,) = judged(use("python_repl", options={"code": TREE})).findings
    assert finding.details["argument"] == "/arguments/options/code"
    start, end = finding.details["span"]
    assert TREE[start:end] == finding.details["text"] == "shutil.rmtree('/srv/photos')"
