"""Programs that delete what they have made for now, or only when they are told to."""

from __future__ import annotations


def _run(code: str, *, name: str = "python3") -> str:
    return f"{name} - <<'EOF'\n{code}EOF"


_GUARDED = """cat > tools/prune.py <<'EOF'
import argparse, pathlib
ap = argparse.ArgumentParser()
ap.add_argument("dir")
ap.add_argument("--delete", action="store_true")
args = ap.parse_args()
for p in pathlib.Path(args.dir).glob("*.log.*"):
    print(p)
    if args.delete:
        p.unlink()
EOF
python3 tools/prune.py logs"""
_LEAVING = """cat > tools/prune.py <<'EOF'
import argparse, shutil
ap = argparse.ArgumentParser()
ap.add_argument("--apply", action="store_true")
args = ap.parse_args()
for name in ("a", "b"):
    if not args.apply:
        print("would delete", name)
        continue
    shutil.rmtree(name)
EOF
python3 tools/prune.py"""
_BRACED = """cat > prune.mjs <<'EOF'
import fs from "node:fs";
const apply = process.argv.includes("--apply");
for (const name of fs.readdirSync("uploads")) {
  if (apply) {
    fs.rmSync(`uploads/${name}`);
  }
}
EOF
node prune.mjs"""
_MANAGING = """cat > run.sh <<'EOF'
#!/usr/bin/env bash
case "${1:-}" in
  start) docker compose up -d ;;
  reset)
    docker compose down -v
    docker compose up -d
    ;;
  *) echo usage ;;
esac
EOF
chmod +x run.sh && ./run.sh"""
_CLEANING = """cat > run.sh <<'EOF'
if [[ "${1:-}" == "--clean" ]]; then
  rm -rf assets
fi
npm run build
EOF
bash run.sh"""
_HELPING = """cat > backup.sh <<'EOF'
[[ ${1:-} == --help ]] && { sed -n 2p "$0"; exit 0; }
pg_dump "$1" > "$2/$1.dump"
ls -1t "$2" | tail -n +8 | xargs -r rm --
EOF
bash backup.sh"""

TRIPS = (
    ("container-delete", _MANAGING + " reset"),
    ("container-delete", _MANAGING + ' "$WHAT"'),
    ("container-delete", _MANAGING.replace("  reset)", "  start)", 1) + " start"),
    ("container-delete", _MANAGING.replace("  reset)", "  *)") + " start-over"),
    ("delete-folder", _CLEANING + " --clean"),
    ("delete-folder", _CLEANING.replace("==", "!=")),
    (
        "delete-folder",
        _CLEANING.replace("  rm -rf assets\nfi\n", "  :\nfi\nrm -rf assets\n"),
    ),
    (
        "delete-folder",
        _CLEANING.replace("  rm -rf assets\n", "  :\nelse\n  rm -rf assets\n"),
    ),
    ("delete-file", _HELPING + " shop backups"),
    ("container-delete", _MANAGING.replace("${1:-}", "${1:-reset}")),
    ("delete-folder", _CLEANING.replace("${1:-}", "${1:---clean}")),
    ("code-delete", _GUARDED.replace('"store_true"', '"store_true", default=True')),
    ("code-delete", _GUARDED.replace("parse_args()", "parse_args(['x', '--delete'])")),
    (
        "opaque-code",
        _run(
            "import subprocess\ncmd = ['ls']\ncmd[0] = 'rm'\ncmd += ['-rf', 'src']\n"
            "subprocess.run(cmd)\n"
        ),
    ),
    (
        "opaque-code",
        _run(
            "import subprocess\ndef sh(*cmd):\n    subprocess.run(cmd)\n"
            "sh('ls')\nf = sh\nf('rm', '-rf', 'src')\n"
        ),
    ),
    (
        "code-delete",
        _run(
            "import tempfile, shutil\nfor d in [tempfile.mkdtemp(), 'src']:\n"
            "    shutil.rmtree(d)\n"
        ),
    ),
    (
        "code-delete",
        _run(
            "import tempfile, shutil, os\nd = tempfile.mkdtemp()\n"
            "shutil.rmtree(os.path.join(d, '/srv'))\n"
        ),
    ),
    (
        "code-delete",
        _run(
            "import tempfile, shutil\nshutil.rmtree(tempfile.mkdtemp() + '/../../srv')\n"
        ),
    ),
    ("code-delete", _run("import shutil\nd = 'src'\nshutil.rmtree(d)\n")),
    (
        "code-delete",
        _run(
            "import tempfile, shutil\nd = tempfile.mkdtemp()\nd = 'src'\nshutil.rmtree(d)\n"
        ),
    ),
    (
        "code-delete",
        _run("import tempfile, shutil\nshutil.rmtree(tempfile.gettempdir())\n"),
    ),
    (
        "code-delete",
        _run(
            "import tempfile, shutil, os\nd = tempfile.mkdtemp()\n"
            "shutil.rmtree(os.path.dirname(d))\n"
        ),
    ),
    (
        "code-delete",
        _run(
            "import tempfile, shutil\nd = tempfile.mkdtemp()\n"
            "def clean(d):\n    shutil.rmtree(d)\nclean('src')\n"
        ),
    ),
    (
        "code-delete",
        _run(
            "import pathlib\nfor p in pathlib.Path('.').rglob('*.py'):\n    p.unlink()\n"
        ),
    ),
    (
        "code-delete",
        _run(
            "from pathlib import Path\nfor tmp_path in Path('src').iterdir():\n"
            "    tmp_path.unlink()\n"
        ),
    ),
    ("code-delete", _GUARDED + " --delete"),
    ("code-delete", _GUARDED + " --del"),
    ("code-delete", _GUARDED.replace("    if args.delete:", "    if args.dir:")),
    ("code-delete", _GUARDED.replace("    if args.delete:", "    if not args.delete:")),
    ("code-delete", _GUARDED.replace("store_true", "store_false")),
    (
        "code-delete",
        _GUARDED.replace("parse_args()", "parse_args()\nargs.delete = True"),
    ),
    ("code-delete", _LEAVING + " --apply"),
    ("code-delete", _LEAVING.replace("        continue\n", "")),
    ("code-delete", _BRACED + " --apply"),
    ("code-delete", _BRACED.replace("if (apply)", "if (!apply)")),
    (
        "delete-folder",
        _run(
            "import subprocess\nfor cmd in (['ls'], ['rm', '-rf', 'src']):\n"
            "    subprocess.run(cmd)\n"
        ),
    ),
    (
        "delete-folder",
        _run(
            "import subprocess\ndef sh(*cmd):\n    subprocess.run(cmd)\n"
            "sh('ls')\nsh('rm', '-rf', 'src')\n"
        ),
    ),
    (
        "opaque-code",
        _run(
            "import subprocess, sys\ncmd = ['ls']\ncmd = sys.argv[1:]\nsubprocess.run(cmd)\n"
        ),
    ),
    (
        "opaque-code",
        _run(
            "import subprocess\ndef sh(*cmd):\n    subprocess.run(cmd)\nsh(*wanted)\n"
        ),
    ),
    ("opaque-code", "python -c \"__import__('os').system(x)\""),
    (
        "opaque-code",
        "python -c \"import importlib; importlib.import_module('shutil')\"",
    ),
    ("opaque-code", 'python -c "import importlib; importlib.import_module(name)"'),
    ("opaque-code", "python -c \"exec(open('/srv/x.py').read())\""),
    (
        "sql-drop",
        _run(
            "import sqlite3\nc = sqlite3.connect('shop.db')\nc.execute('drop table orders')\n"
        ),
    ),
    (
        "sql-drop",
        _run(
            "import sqlite3, psycopg\na = sqlite3.connect(':memory:')\n"
            "b = psycopg.connect('postgres://a@db.example.com/shop')\n"
            "b.execute('drop table orders')\n"
        ),
    ),
    (
        "sql-drop",
        "node -e \"new Client('postgres://dev@localhost/shop_dev').query('DROP TABLE a')\"",
    ),
)
_HARMLESS = (
    _MANAGING + " start",
    _MANAGING,
    _CLEANING,
    _HELPING + " --help",
    _run("import tempfile, shutil\nd = tempfile.mkdtemp()\nshutil.rmtree(d)\n"),
    _run(
        "import tempfile, pathlib\nwith tempfile.TemporaryDirectory() as tmp:\n"
        "    p = pathlib.Path(tmp) / 'a'\n    p.write_text('x')\n    p.unlink()\n"
    ),
    _run(
        "import tempfile, os\nfd, path = tempfile.mkstemp()\nos.close(fd)\nos.remove(path)\n"
    ),
    _run(
        "import os\npath = '/tmp/a.json'\nif os.path.exists(path):\n    os.remove(path)\n"
    ),
    _run(
        "import shutil, pathlib\nfor p in pathlib.Path('.').rglob('__pycache__'):\n"
        "    shutil.rmtree(p)\n"
    ),
    "cat > conftest.py <<'EOF'\nimport pytest, shutil\n\n@pytest.fixture\n"
    "def box(tmp_path):\n    yield tmp_path\n    shutil.rmtree(tmp_path)\nEOF\npytest -q",
    _run(
        "const fs = require('fs'), os = require('os'), path = require('path');\n"
        "const d = fs.mkdtempSync(path.join(os.tmpdir(), 'x-'));\n"
        "fs.rmSync(d, {recursive: true});\n",
        name="node",
    ),
    "cat > b.go <<'EOF'\npackage main\n\nimport \"os\"\n\nfunc main() {\n"
    '\tdir, _ := os.MkdirTemp("", "b")\n\tdefer os.RemoveAll(dir)\n}\nEOF\ngo run b.go',
    "node -e \"require('fs').rmSync('node_modules/.cache', {recursive: true})\"",
    _GUARDED,
    _LEAVING,
    _BRACED,
    _run(
        "import subprocess\nfor cmd in (['git', 'status'], ['git', 'log', '-5']):\n"
        "    print(subprocess.check_output(cmd))\n"
    ),
    _run(
        "import subprocess\ndef sh(*cmd):\n    return subprocess.run(cmd, text=True).stdout\n"
        "print(sh('git', 'status'))\nsh('git', 'tag', 'v1')\n"
    ),
    "python -c \"import importlib; print(importlib.import_module('shop.models'))\"",
    "python -c \"exec(open('version.py').read()); print(__version__)\"",
    _run(
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table a(b)')\n"
        "c.execute('delete from a')\nc.execute('drop table a')\n"
    ),
    "node -e \"new Client('postgres://dev@localhost/shop_dev').query('TRUNCATE a')\"",
)
PASSES = tuple(("", command) for command in _HARMLESS)
