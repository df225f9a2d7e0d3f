"""Programs given on the command line to an interpreter: python -c, node -e, awk."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="code-delete",
        message="A program deletes files or data",
        why="It deletes at once and asks nobody.",
        safer="Print what it would delete first; write the program to a file.",
        rollback="a commit or copy to restore from.",
        trips=(
            "python -c \"import shutil; shutil.rmtree('data')\"",
            "python3 - <<'EOF'\nimport os\nos.remove('a')\nEOF",
            "node -e \"require('fs').rmSync('x', {recursive: true})\"",
            "perl -e 'unlink glob \"*.txt\"'",
            "ruby -e \"FileUtils.rm_rf('x')\"",
            "php -r \"unlink('x');\"",
            "python manage.py shell -c 'User.objects.all().delete()'",
        ),
        passes=(
            "python -c \"print('os.remove')\"",
            "python -c \"import shutil; shutil.rmtree('/tmp/x')\"",
            "node -e 'console.log(1)'",
            "perl -ne 'print if /unlink/' file",
        ),
    ),
    Rule(
        name="opaque-code",
        message="Runs a program that cannot be read from here",
        why="What it runs is put together only when it runs.",
        safer="Write the program to a file that can be reviewed.",
        trips=(
            "python -c \"import base64; exec(base64.b64decode('cHJpbnQ='))\"",
            "python -c 'import os,sys; os.system(sys.argv[1])' x",
            "node -e \"require('child_process').exec(process.argv[1])\" x",
            "perl -e 'system(@ARGV)' x",
            'python -c "$CODE"',
        ),
        passes=(
            "python -c 'import sys; print(sys.version)'",
            "python -c \"import subprocess; subprocess.run(['git', 'status'])\"",
        ),
    ),
)
