"""Files that a tool loads on its own, commands it is told to remember, Windows macros."""

from __future__ import annotations

_PYTHON = "import shutil; shutil.rmtree('assets')"

TRIPS = (
    ("code-delete", f'echo "{_PYTHON}" > conftest.py; pytest -q'),
    ("code-delete", f'echo "{_PYTHON}" > test_a.py && python -m pytest'),
    ("code-delete", f'echo "{_PYTHON}" > setup.py && pip install -e .'),
    ("code-delete", "echo 'fs.rmSync(\"assets\")' > vite.config.js; npx vite build"),
    ("code-delete", "echo 'os.RemoveAll(\"assets\")' > a_test.go; go test ./..."),
    ("delete-folder", "echo 'rm -rf assets' > .envrc && direnv allow"),
    (
        "delete-folder",
        "echo 'rm -rf assets' > .git/hooks/post-commit; git commit -m x",
    ),
    (
        "code-delete",
        "echo '- file: {path: /srv/a, state: absent}' > a.yml; ansible-playbook a.yml",
    ),
    ("delete-folder", "echo 'rm -rf assets' | sudo tee /usr/local/bin/fmt2 && fmt2"),
    ("delete-folder", "install /dev/stdin ./go2 <<< 'rm -rf assets' && ./go2"),
    ("delete-folder", "npm pkg set scripts.a='rm -rf assets' && npm run a"),
    ("delete-folder", "composer config scripts.a 'rm -rf assets'"),
    ("delete-folder", "tox -x testenv.commands='rm -rf assets'"),
    ("delete-folder", "cargo run --config 'target.x.runner=\"rm -rf assets\"'"),
    ("delete-folder", "cmake -E rm -rf assets"),
    ("delete-folder", "cmake -E remove_directory assets"),
    ("code-delete", "gradle -I <(echo 'file(\"assets\").deleteDir()') help"),
    ("git-reset-hard", "echo 'reset --hard' | xargs git"),
    ("delete-folder", "echo rm -rf assets | xargs env"),
    ("delete-folder", "for /d %d in (*) do @rd /s /q %d"),
    ("delete-folder", "rundll32 shell32.dll,ShellExec_RunDLL cmd /c rd /s /q assets"),
    ("delete-folder", "doskey ls=rd /s /q assets"),
    ("?", "iex ('smeti' -join '')"),
    ("empty-file", "[IO.File]::WriteAllText('a.cs', '')"),
    ("windows-remove", 'saps powershell "-c ri assets -r"'),
    ("empty-file", "sc a.cs ''"),
    ("*", "aws s3 mv s3://media /srv/x --recursive"),
    ("*", "kubectl scale deploy/web --replicas=0 -n production"),
    ("*", "psql production < old.sql"),
    ("*", "pip uninstall -y -r all.txt"),
)
_HARMLESS = (
    f'echo "{_PYTHON}" > conftest.py',
    "echo 'import os' > conftest.py; pytest -q",
    "echo 'export default {}' > vite.config.js; npx vite build",
    "echo 'export A=1' > .envrc && direnv allow",
    "echo '- file: {path: /srv/a, state: touch}' > a.yml; ansible-playbook a.yml",
    "npm pkg set scripts.a='vitest run'",
    "npm pkg set scripts.clean='node scripts/clean.mjs'",
    "tox -x testenv.commands='pytest'",
    "cmake -E make_directory build",
    "cmake -S . -B build",
    "echo status | xargs git",
    "doskey ls=dir",
    "[IO.File]::WriteAllText('a.cs', $text)",
    "saps notepad a.txt",
    "sc query Spooler",
    "aws s3 mv s3://media/a s3://media/b",
    "kubectl scale deploy/web --replicas=0 -n dev",
    "psql shop_dev < seed.sql",
)
PASSES = tuple(("", command) for command in _HARMLESS)
