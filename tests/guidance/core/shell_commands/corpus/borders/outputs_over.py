"""Outputs that land on sources and data, and those that land where outputs belong."""

from __future__ import annotations

TRIPS = (
    ("overwrite-file", "sed -n 'w lib/main.py' README.md"),
    ("empty-file", "ex -s +'%s/.*//|wq' lib.rs"),
    ("code-delete", "nvim -l <(echo 'os.remove(\"a.py\")')"),
    ("empty-file", "exec 4> orders.csv"),
    ("empty-file", "echo hi >| main.go"),
    ("empty-file", "make &> main.go"),
    ("overwrite-file", "psql -c '\\o lib/main.py' -c 'select 2'"),
    ("overwrite-file", "sqlite3 a.db '.output lib/main.py' 'select 2'"),
    ("delete-file", "smbclient //nas/x -c 'deltree old'"),
    ("sql-drop", "psql -c 'CALL wipe_all_users()'"),
    ("sql-drop", "sqlcmd -Q \"EXEC sp_MSforeachtable 'DROP TABLE ?'\""),
    ("document-drop", "mongosh --eval 'db.a.aggregate([{$out: \"b\"}])'"),
    ("document-drop", "mongosh --eval 'db.a.bulkWrite([{deleteMany: {filter: {}}}])'"),
    ("opaque-sql", "python manage.py sqlflush | python manage.py dbshell"),
    ("code-delete", "rails runner 'Sidekiq::Queue.all.each(&:clear)'"),
    ("git-discard", "git diff > mine.patch && git apply -R mine.patch"),
    ("archive-over", "bsdtar -xUf old.tar"),
    ("copy-over", "xcopy /y /s old\\* current\\"),
    ("copy-over", "Move-Item .\\new.json .\\config.json -Force"),
)
_HARMLESS = (
    "sed -n 'w lines.txt' README.md",
    "ex -s +'%s/a.*//|wq' lib.rs",
    "exec 3>&1",
    "exec > build.log 2>&1",
    "exec 9> .lock",
    "make &> build.log",
    "psql -c '\\o report.txt' -c 'select 2'",
    "sqlite3 a.db '.output rows.txt' 'select 2'",
    "smbclient //nas/x -c 'ls'",
    "psql -c 'CALL refresh_report()'",
    "mongosh --eval 'db.a.aggregate([{$match: {b: 1}}])'",
    "git apply -R fix.patch",
    "Move-Item .\\new.json .\\config.json",
    "xcopy /y a.txt b.txt",
)
PASSES = tuple(("", command) for command in _HARMLESS)
