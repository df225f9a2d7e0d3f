"""Files, pipes and connections that a command fills, and that are run or read after it."""

from __future__ import annotations

TRIPS = (
    (
        "delete-folder",
        "printf '%s\\n' '- hosts: all' '  tasks:' '  - shell: rm -rf /opt/app' > p.yml && ansible-playbook -i prod p.yml",
    ),
    (
        "delete-folder",
        "cat > play.yml <<'X'\n- hosts: all\n  tasks:\n    - command: rm -rf /srv/data\nX\nansible-playbook play.yml",
    ),
    (
        "code-delete",
        "cat > play.yml <<'X'\n- hosts: db\n  tasks:\n    - file: {path: /srv/data, state: absent}\nX\nansible-playbook -i inv play.yml",
    ),
    ("?", "mkfifo p; sh p & echo 'rm -rf /srv/rail' > p"),
    ("?", "mkfifo /tmp/f; bash < /tmp/f & echo 'rm -rf ~/work' > /tmp/f"),
    ("?", "mknod q p; (sh < q) & printf 'rm -rf /srv/x\\n' > q"),
    ("?", "mkfifo c && cat c | sh & echo 'git reset --hard HEAD~9' > c"),
    ("database-flush", "exec 3<>/dev/tcp/127.0.0.1/6379; printf 'FLUSHALL\\r\\n' >&3"),
    ("database-flush", "exec 5<>/dev/tcp/localhost/11211; echo flush_all >&5"),
    ("database-flush", "printf 'FLUSHDB\\r\\n' > /dev/tcp/127.0.0.1/6379"),
    ("database-flush", "echo FLUSHALL | nc localhost 6379"),
    ("database-flush", "printf 'flush_all\\r\\n' | nc -q1 localhost 11211"),
    (
        "volume-remove",
        'perl -e \'open F,">","u";print F "zfs destroy -r tank";close F;\' ; . ./u',
    ),
    (
        "delete-folder",
        "python3 -c \"open('go.sh','w').write('rm -rf /srv/x')\"; sh go.sh",
    ),
    (
        "git-reset-hard",
        "python3 -c \"import pathlib; pathlib.Path('go.sh').write_text('git reset --hard')\" && bash go.sh",
    ),
    ("delete-folder", 'ruby -e \'File.write("z.sh","rm -rf /srv")\' && source z.sh'),
    (
        "delete-folder",
        'node -e \'require("fs").writeFileSync("d.sh","rm -rf /srv/x")\' && chmod +x d.sh && ./d.sh',
    ),
    ("delete-folder", 'awk \'BEGIN{print "rm -rf /srv/x" > "r.sh"}\'; sh r.sh'),
    (
        "code-delete",
        "cat > deploy.rb <<'X'\nFileUtils.rm_rf(\"/srv/app\")\nX\nruby deploy.rb",
    ),
    ("persist-schedule", "echo '*/5 * * * * rm -rf /srv/data' > c.txt; crontab c.txt"),
)
_HARMLESS = (
    "mkfifo p; cat p & echo hello > p",
    "mkfifo log; tail -f log | grep err & ./server > log",
    "python3 -c \"open('out.txt','w').write('x')\"; cat out.txt",
    "python3 -c \"open('run.sh','w').write('echo hi')\"; cat run.sh",
    "exec 3<>/dev/tcp/127.0.0.1/6379; printf 'PING\\r\\n' >&3; read -u 3 x",
    "echo PING | nc localhost 6379",
    "printf '%s\\n' '- hosts: local' '  tasks:' '  - ping:' > p.yml && ansible-playbook p.yml --check",
    "cat > play.yml <<'X'\n- hosts: all\n  tasks:\n    - shell: uptime\nX\nansible-playbook play.yml",
)
PASSES = tuple(("", command) for command in _HARMLESS)
