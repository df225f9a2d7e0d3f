"""Editors and outputs that leave nothing behind, and those that only edit."""

from __future__ import annotations

TRIPS = (
    ("empty-file", "vim -es -c '%d' -c wq main.py"),
    ("empty-file", "vim -es '+1,$delete' +wq main.py"),
    ("empty-file", "printf '%%d\\nw\\nq\\n' | ex -s main.py"),
    ("empty-file", "printf ',d\\nw\\nq\\n' | ed -s main.py"),
    ("code-delete", 'vim -c \'call delete("assets", "rf")\' -c q'),
    ("code-delete", "nvim --headless -c 'lua os.remove(\"a.py\")' +q"),
    ("delete-folder", "nvim --headless -c 'lua vim.fn.system(\"rm -rf assets\")' +q"),
    ("delete-folder", "vim -es -c 'silent !rm -rf assets' -c q"),
    ("delete-folder", "vim -es -c 'call system(\"rm -rf assets\")' -c q"),
    ("delete-folder", "printf 'r !rm -rf assets\\n' | ed"),
    ("empty-file", "sed -i d main.py"),
    ("empty-file", "sed -i '1,$d' main.py"),
    ("empty-file", "sed -ni '/x/!s/a/b/' main.py"),
    ("empty-file", "sed -n 'w main.py' /dev/null"),
    ("overwrite-system-file", "sed -n 'w /etc/passwd' users"),
    ("delete-folder", "sed -i 's/make all/rm -rf assets/' go.sh && ./go.sh"),
    ("empty-file", "tee main.py < /dev/null"),
    ("empty-file", ": | tee main.py"),
    ("empty-file", "sort -o main.py /dev/null"),
    ("empty-file", "printf '' > main.py"),
    ("empty-file", "echo -n > main.py"),
    ("empty-file", "false > main.py"),
    ("empty-file", "2> main.py ls nowhere"),
)
_HARMLESS = (
    "vim -es -c '%s/a/b/g' -c wq main.py",
    "vim -es -c '1d' -c wq main.py",
    "printf '1d\\nw\\nq\\n' | ed -s main.py",
    "vim -c q main.py",
    "sed -i '/debug/d' main.py",
    "sed -i '1d' main.py",
    "sed -n '1,5p' main.py",
    "sed -ni '/keep/p' main.py",
    "sed -i 's/rm -rf assets/true/' go.sh && ./go.sh",
    "sed -i 's/a/rm -rf assets/' go.sh",
    "echo x | tee notes.txt",
    "tee /tmp/x < /dev/null",
    "sort -o list.txt list.txt",
    "printf 'a\\n' > notes.txt",
    "make 2> errors.log",
    "printf '' > /tmp/x",
)
PASSES = tuple(("", command) for command in _HARMLESS)
