"""Long commands: what agents really send, and what was made to be slow."""

from __future__ import annotations

from collections.abc import Mapping

KIB = 1024

_PYTHON = """def load(path):
    with open(path) as lines:
        return [line.strip().split(",") for line in lines]

"""
_MESSAGE = """The cache forgot its entries when two workers started at once: both found
it empty and both filled it. One of them now waits for the other.

"""
_SCRIPT = """set -e
cd "$ROOT/api" && npm ci --silent
for service in auth billing search; do
  npm run build --workspace "$service" > "/tmp/$service.log" 2>&1 || exit 1
done
docker compose up -d --build && docker compose ps
python -m pytest tests -q --maxfail=1 -k "not slow" | tee /tmp/tests.log
git add -A && git commit -m "Build the services" && git push origin HEAD
"""
_CHAIN = "git status --short && ls -la src | head -20 && cat package.json; "
_ROW = "INSERT INTO events (id, kind, payload) VALUES (17, 'click', '{\"x\": 1}');\n"
_ARGUMENT = "tests/unit/test_module_number_one.py "
_JSON = '{"name": "example", "values": [1, 2, 3], "note": "rm -rf is not run here"}, '


def _filled(head: str, piece: str, tail: str, size: int) -> str:
    return head + piece * max(1, (size - len(head) - len(tail)) // len(piece)) + tail


def usual(size: int) -> Mapping[str, str]:
    """Commands of about this many characters, as agents send them; none is dangerous."""
    return {
        "a file written": _filled("cat > app.py <<'EOF'\n", _PYTHON, "EOF\n", size),
        "a program read": _filled("python3 - <<'EOF'\n", _PYTHON, "EOF\n", size),
        "a commit message": _filled(
            "git commit -m \"$(cat <<'EOF'\n", _MESSAGE, 'EOF\n)"', size
        ),
        "a script": _filled("", _SCRIPT, "", size),
        "a chain": _filled("", _CHAIN, "true", size),
        "rows for a database": _filled("psql app <<'SQL'\n", _ROW, "SQL\n", size),
        "many arguments": _filled("pytest -q ", _ARGUMENT, "", size),
        "a request": _filled("curl -d '[", _JSON, "{}]' localhost:8000/api", size),
    }


def dangerous(size: int) -> Mapping[str, str]:
    """The same, with a removal at the end."""
    return {name: f"{text}\nrm -rf data" for name, text in usual(size).items()}


_PIECES = (
    *tuple("(){}`\"'\\|&;!#\né\u200b\u202e"),
    *("$(", "$((", "((", "[[", "${a:-", "<<a", "a|", "a=(", "a?(", "@(", '"$(', "<("),
    *(
        ">(",
        "> ",
        "2>&1",
        "{a,",
        "{a,b}",
        "$x",
        '"$x"',
        "a\\ ",
        "\\\n",
        "$'\\x61'",
        "//",
    ),
)
_COMMANDS = (
    "rm a;",
    "rm -rf /tmp/a ;",
    "git push -f;",
    "sudo ",
    "sudo rm ",
    "xargs ",
    "bash -c ",
    "eval $a;",
    "A=$A$A;",
    "A=b ",
    "a() ",
    "a(){ ",
    "function a ",
    "if a; then ",
    "case a in ",
    "for a in ",
    "time ",
    "done ",
    "find -exec ",
    "cat <<a\n",
    "echo a>b;",
    "echo a|sh;",
    "a=`b`;",
    "alias a=b;",
    "f(){ f;};f;",
    "cd /tmp/a&&",
    "docker run ",
    "kubectl exec ",
    "ssh a ",
    "python -c 'os.system(';",
    "psql -c 'DELETE FROM a';",
    "Remove-Item a;",
    "iex a|",
)


def bombs(size: int) -> Mapping[str, str]:
    """Texts made to be slow, each of this many characters."""
    repeated = {
        repr(piece): (piece * (size // len(piece) + 1))[:size]
        for piece in (*_PIECES, *_COMMANDS)
        if piece
    }
    return {
        **repeated,
        "a value that doubles": "A=aaaaaaaa;" + "A=$A$A;" * 40 + "eval $A;" * 900,
        "a text evaluated again": "A='" + "ls;" * 4000 + "';" + 'eval "$A";' * 900,
        "functions calling twice": "".join(
            f"f{number}(){{ f{number + 1};f{number + 1}; }};" for number in range(40)
        )
        + "f0",
        "parentheses in SQL": "psql -c 'DELETE FROM a WHERE " + "(" * (size - 40) + "'",
        "comments in SQL": "psql <<'E'\nDROP " + "/* " * (size // 3 - 10) + "\nE",
        "dollar quotes": "psql <<'E'\nDROP " + "$a$ " * (size // 4 - 10) + "\nE",
        "quotes in Python": "python - <<'E'\n"
        + '""" \' ' * (size // 7)
        + "os.remove\nE",
        "calls in Python": "python - <<'E'\n" + "os.remove(x);" * (size // 14) + "\nE",
        "escapes in Python": "python - <<'E'\nos.remove(" + "\\" * (size - 40) + "\nE",
        "expressions in JavaScript": "node -e '" + "exec(=/a" * (size // 9) + "'",
        "a long path": "rm /tmp/" + "../" * (size // 3 - 10),
        "many paths": "rm" + " /tmp/a" * (size // 8),
        "one word": "rm " + "a" * (size - 10),
        "here-documents": "cat " + "".join(f"<<E{n} " for n in range(size // 9)) + "\n",
    }


# One of each kind that once took seconds.
FOUND_BY_FUZZING: Mapping[str, str] = {
    "a program in every command": "iex a|" + "mysql -e 'UPDATE a SET b = 1' c;" * 1500,
    "braces": "node -e {a,b}{c,d}{a,b}{c,d}case x in <&3 " * 2500,
    "brackets that do not close": "SELECT 1 DROP\n" + "[[sudo <&3 or export A=" * 4000,
    "calls in many programs": ("python -c '" + "File.delete(x); `ls`;" * 55 + "';")
    * 110,
    "code after code": "node -e 'e(`rm -rf x`)';" * 2000,
    "commands that print commands": "a{b, ln -s /a /tmp/b;Remove-Item a;"
    + "set -- awk '2>&1powershell -c ssh a $x" * 2500,
    "commands in many substitutions": ("echo $(" + "rm a; git push -f; " * 60 + ");")
    * 110,
    "commands in cmd": "done;" + "cmd /c " * 7000,
    "commands in PowerShell": "powershell -c xargs " * 2500,
    "conditions in many statements": (
        "psql -c '" + "DELETE FROM a WHERE x AND y=1 AND z IN (1,2) " * 26 + "';"
    )
    * 108,
    "deletions in one statement": "DELETE FROM a WHERE b LIKE '%'\n" * 4000,
    "dollars in a word": "))$((docker run !" * 6000,
    "escapes in a word": 'docker rm "$("$(<(' + "==\\'" * 30_000,
    "lines for a cache": "redis-cli <<'E'\n" + "\n" * 100_000 + "\nE",
    "loops in Python": "python -c '" + ("while " * 15 + "fork ") * 390 + "'",
    "modes": "chmod -R -" + "r" * 100_000 + "! a",
    "numbers for printf": "printf '%" + "0" * 100_000 + "' | sh",
    "pipes": "sudo };" + "Remove-Item a -WhatIf|make -f- begin /* " * 2500,
    "redirections": "cat" + " > /dev/sda x" * 9_000,
    "regular expressions": "node -e 'exec " + "=/a[" * 25_000 + "'",
    "semicolons": "drop " + "f;" * 50_000,
    "slashes for sed": "sed 's/e" + "/" * 100_000 + "'",
    "starts for sed": "sed '" + "s/e" * 33_000 + "'",
    "substitutions that do not close": 'tee f; time é""!\nE\n)$(a=beval ' * 4000,
    "variables in many queries": ('mysql -e "' + "$x ${y} " * 150 + '";') * 107,
    "variables in many removals": ("rm -rf " + "$x ${y} " * 250 + ";") * 64,
    "words that are expanded": "cmd /c " + "{1..9}\\\\" * 1200 + "'{a,b}; ",
}
