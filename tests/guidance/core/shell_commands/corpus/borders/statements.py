"""SQL in files, functions and other clothes; plumbing of git."""

from __future__ import annotations

TRIPS = (
    ("sql-drop", "echo 'drop table orders;' > m.sql && psql shop -f m.sql"),
    ("sql-truncate", "psql shop -f - <<< 'truncate orders;'"),
    ("sql-drop", "echo 'drop table orders;' > m.sql && sqlite3 shop.db '.read m.sql'"),
    ("sql-drop", "echo 'drop table orders;' > m.sql && mysql -e 'source m.sql'"),
    ("sql-drop", "psql -f <(echo 'drop schema shop cascade')"),
    ("sql-drop", "psql -c 'select lo_unlink(oid) from pg_largeobject_metadata'"),
    ("overwrite-file", "psql -c \"copy orders to '/srv/www/index.html'\""),
    ("overwrite-file", "mysql -e \"select '' into dumpfile '/srv/www/index.php'\""),
    ("sql-delete-all", "sqlite3 shop.db 'delete from orders where rowid > 0'"),
    ("sql-delete-all", "psql -c 'delete from orders where exists (select 1)'"),
    ("document-drop", "mongosh --eval 'db.runCommand({drop: \"orders\"})'"),
    ("document-drop", "mongosh --eval 'db.adminCommand({\"dropDatabase\": 1})'"),
    ("database-flush", "echo FLUSHALL > /dev/tcp/localhost/6379"),
    ("opaque-sql", 'rails runner \'Base.connection.execute("trun" + "cate orders")\''),
    ("git-push-force", "git send-pack --force origin main"),
    ("git-push-force", "git config remote.origin.mirror true"),
    ("git-branch-delete", "git branch -M topic main"),
)
_HARMLESS = (
    "echo 'select 1;' > m.sql && psql shop -f m.sql",
    "psql -f migrations/001.sql",
    "psql -c \"\\copy orders to 'orders.csv' csv\"",
    "psql -c \"copy orders to '/tmp/orders.csv'\"",
    "sqlite3 shop.db 'delete from orders where rowid = 4'",
    "psql -c 'delete from orders where exists (select 1 from old o where o.id = 1)'",
    "mongosh --eval 'db.runCommand({ping: 1})'",
    "echo PING > /dev/tcp/localhost/6379",
    "rails runner 'Base.connection.execute(\"select 1 from \" + name)'",
    "git branch -M main",
    "git branch -m topic other",
    "git send-pack origin main",
)
PASSES = tuple(("", command) for command in _HARMLESS)
