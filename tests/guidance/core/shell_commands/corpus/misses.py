"""Dangerous, and not caught: the limits of what a command says about itself.

A test holds this list to the truth, so that nobody relies on more than there is.
"""

from __future__ import annotations

MISSES = (
    # Files that were there before: their content is not part of the command.
    ("a script that was there before", "bash cleanup.sh"),
    ("a script that was there before", "./cleanup.sh --all"),
    ("a target of a makefile", "make purge"),
    ("a script of a package", "npm run nuke"),
    ("statements in a file", "psql -f drop_everything.sql"),
    ("statements in a file", "mysql shop < drop_everything.sql"),
    ("a program in a file", "python cleanup.py"),
    # Set by an earlier command: only a person who reads both can know (M72).
    ("an alias from an earlier step", "cleanup"),
    # Overwriting, which is what most commands do all day.
    ("overwrites a file", "echo x > important.txt"),
    ("overwrites a file", "cp other.txt important.txt"),
    ("overwrites a file", "mv -f other.txt important.txt"),
    ("edits a file in place", "sed -i 's/a/b/' important.txt"),
    ("overwrites a file", "tar xf archive.tar"),
    ("overwrites a file", "python -c \"open('a.txt', 'w').write('x')\""),
    # Names that say nothing about what they are.
    ("a path that looks like a branch", "git checkout notes"),
    (
        "a condition that happens to hold for all",
        "DELETE FROM t WHERE born > '1800-01-01'",
    ),
    # Changes that may delete, depending on what is there.
    ("a plan that may destroy", "terraform apply next.plan"),
    ("stops everything, deletes nothing", "kubectl scale deploy web --replicas=0"),
    ("rewrites the last commit only", "git commit --amend --no-edit"),
    # Ways out of other programs that nobody has put in the tables.
    ("an option that is run", "git grep --open-files-in-pager='rm -rf' x"),
    ("an option that is run", "zip x.zip y -T --unzip-command='sh -c rm'"),
    ("a plug-in that is loaded", "nmap --script ./delete.nse host"),
    # Words that only another command knows.
    ("references to delete", "git push origin $(git branch -r | sed 's|origin/|:|')"),
    # Programs that build their calls out of pieces, or that nobody reads.
    ("a module under another name", "python -c 'import pathlib; pathlib.sys.modules'"),
)
