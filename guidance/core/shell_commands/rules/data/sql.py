"""SQL: found in the arguments and the input of database clients, or given as such."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="sql-drop",
        message="Drops a database object",
        why="The object and all its data are gone, with everything that depends on it.",
        safer="Rename it, or run it in a transaction and look before COMMIT.",
        rollback="a dump of the object (pg_dump -t, mysqldump) to restore from.",
        trips=(
            "DROP DATABASE production",
            "psql -c 'drop view v'",
            'mysql -e "DROP USER bob"',
            "sqlite3 app.db 'DROP TABLE IF EXISTS users;'",
            "psql <<EOF\nDROP SCHEMA x CASCADE;\nEOF",
            "echo 'drop table users' | psql",
        ),
        passes=(
            'echo "drop table"',
            "psql -c \"SELECT 'drop table x'\"",
            "psql -c 'DROP TEMPORARY TABLE t'",
            "grep -rn 'DROP TABLE' migrations",
        ),
    ),
    Rule(
        name="sql-truncate",
        message="Deletes all rows of a table",
        why="TRUNCATE asks no WHERE, fires few triggers, and on many servers commits.",
        safer="DELETE with a WHERE, in a transaction.",
        rollback="a dump of the table to restore from.",
        trips=("TRUNCATE TABLE users", "psql -c 'TRUNCATE users'"),
        passes=("psql -c 'SELECT date_trunc(1, x)'", "truncate --help"),
    ),
    Rule(
        name="sql-delete-all",
        message="Deletes rows without a condition that picks them",
        why="Without a WHERE that means something, every row goes.",
        safer="Add a WHERE, count with SELECT first, and use a transaction.",
        rollback="a transaction (BEGIN … ROLLBACK), or a dump of the table.",
        trips=(
            "DELETE FROM users;",
            "DELETE FROM users WHERE 1=1",
            'DELETE FROM "users"',
            "psql -c 'WITH d AS (DELETE FROM x RETURNING *) SELECT * FROM d'",
            "psql -c 'EXPLAIN ANALYZE DELETE FROM x'",
            "mysql -e 'DELETE FROM t WHERE true OR id = 5'",
        ),
        passes=(
            "psql -c 'DELETE FROM users WHERE id = 5'",
            "psql -c 'EXPLAIN DELETE FROM x'",
        ),
    ),
    Rule(
        name="sql-update-all",
        severity="medium",
        message="Changes rows without a condition that picks them",
        why="Without a WHERE that means something, every row is overwritten.",
        safer="Add a WHERE, count with SELECT first, and use a transaction.",
        rollback="a transaction (BEGIN … ROLLBACK), or a dump of the table.",
        trips=("UPDATE users SET admin = true", "psql -c 'update t set a=1 where 1=1'"),
        passes=(
            "psql -c 'UPDATE users SET a = 1 WHERE id = 2'",
            "psql -c 'SELECT * FROM t FOR UPDATE'",
            "psql -c 'INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a = 1'",
        ),
    ),
    Rule(
        name="sql-alter-drop",
        message="Drops a part of a table",
        why="A dropped column takes its data along.",
        safer="Stop using it first, drop it in a later release.",
        rollback="a dump of the table to restore from.",
        trips=(
            "ALTER TABLE public.users DROP COLUMN email",
            "psql -c 'alter table users drop constraint c'",
        ),
        passes=(
            "psql -c 'ALTER TABLE users ADD COLUMN a int'",
            "psql -c 'ALTER TABLE users ALTER a DROP NOT NULL'",
        ),
    ),
    Rule(
        name="opaque-sql",
        message="SQL that cannot be read from here",
        why="It is put together only when it runs, and may do anything.",
        safer="Write the statement out, or put it in a file that can be reviewed.",
        trips=(
            'psql -c "$SQL"',
            'psql -c "EXECUTE IMMEDIATE x"',
            'psql -c "DELETE FROM t WHERE name = \'a"',
        ),
        passes=("psql -f migration.sql", 'psql -c "SELECT * FROM $TABLE"'),
    ),
)
