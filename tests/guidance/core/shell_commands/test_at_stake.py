"""A finding names what is at stake, in one line."""

from __future__ import annotations

from guidance.core.shell_commands import judge_code, judge_command, judge_sql
from tests.support.rows import each_row


@each_row(
    ("command", "message"),
    [
        ("rm -rf photos", "Deletes photos with all contents"),
        ("D=photos; rm -rf $D", "Deletes photos with all contents"),
        ("rm -rf photos notes", "Deletes photos and notes with all contents"),
        ("rm src/a.c src/b.c src/x/c.c", "Deletes 3 files under src/"),
        ("rm ./src/a.c ./src/b.c ./src/c.c", "Deletes 3 files under src/"),
        ("rm a.txt b.txt c.txt d.txt", "Deletes a.txt, b.txt and 2 more"),
        ("rm -rf /srv/a /srv/b /srv/c", "Deletes 3 folders under /srv/ with"),
        ("rm -rf /a /b /c", "Deletes /a, /b and 1 more with all contents"),
        ("rm *.log", "Deletes *.log"),
        ("rm -rf $SOMEWHERE", "Deletes what is only known when it runs with"),
        ('rm -rf "$ROOT/old"', "Deletes …/old with all contents"),
        (
            "git ls-files -o | xargs rm -rf --",
            "Deletes whatever “git ls-files -o” lists",
        ),
        ("cat l | sort -u | xargs rm", "Deletes whatever “cat l | sort -u” lists"),
        ("cat l | xargs rm notes", "Deletes notes and whatever “cat l” lists"),
        ("find /srv -exec rm {} +", "Deletes whatever is found under /srv"),
        (
            "find . -name x -delete",
            "Deletes whatever the search under the working folder",
        ),
        ("> app.db", "Empties app.db"),
        ("cp /dev/null app.db", "Empties app.db"),
        ("echo x > /etc/passwd", "Overwrites /etc/passwd, which"),
        ("git push -f origin main", "Overwrites the history of main on origin"),
        ("git push -f origin HEAD:main", "Overwrites the history of main on origin"),
        (
            "git push -f origin",
            "Overwrites the history of the current branch on origin",
        ),
        ("git push origin --delete old", "Deletes old on origin"),
        ("git branch -D spike", "Deletes spike, which may not be merged"),
        ("git checkout -- src", "Throws away uncommitted changes in src"),
        ("kubectl delete pod web", "Deletes pod web from the cluster"),
        ("docker volume rm pgdata", "Deletes pgdata"),
        (
            "psql -c 'DROP TABLE IF EXISTS orders'",
            "Drops the table orders (through psql)",
        ),
        ("Remove-Item -Recurse C:\\data", "Deletes C:\\data"),
        ("npm unpublish lib@1.2.0", "Withdraws a published package: lib@1.2.0"),
        ("cat ~/.ssh/id_rsa", "Reads a private key or password hashes: ~/.ssh/id_rsa"),
    ],
)
def test_the_message_names_it(command: str, message: str) -> None:
    found = judge_command(command)
    assert [each.message for each in found if each.message.startswith(message)], found
    assert all(each.target in each.message for each in found)


@each_row(
    ("sql", "message"),
    [
        ("DROP DATABASE shop", "Drops the database shop"),
        ("truncate table only orders", "Deletes every row of orders"),
        ("DELETE FROM shop.orders", "Deletes every row of shop.orders"),
        ("UPDATE orders SET paid = 1", "Changes every row of orders"),
        ("ALTER TABLE orders DROP COLUMN paid", "Drops paid of the table orders"),
    ],
)
def test_so_does_sql(sql: str, message: str) -> None:
    assert [found.message for found in judge_sql(sql)] == [message]


def test_so_does_a_program() -> None:
    (found,) = judge_code("shutil.rmtree('/srv/photos')", language="python")
    assert found.message.startswith("A program deletes “/srv/photos”")
    (found,) = judge_code("shutil.rmtree(folder)", language="python")
    assert found.target == ""


@each_row("command", ["git push --force", "git stash clear", "curl x | sh"])
def test_what_names_nothing_keeps_its_own_sentence(command: str) -> None:
    for found in judge_command(command):
        assert found.target == ""
        assert found.message


def test_a_long_or_odd_name_stays_one_readable_line() -> None:
    (found,) = judge_command("rm '/srv/" + "x" * 500 + "/end'")
    assert len(found.message) < 120
    assert "end" in found.message
    (found, *_) = judge_command("rm '/srv/a\u202eb\nc\x1b[0m'")
    assert found.message.isprintable()
