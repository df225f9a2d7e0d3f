"""What lies in the data folder is nobody else's to read, also in a folder that was there."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from config.checks import find_data_faults
from config.database.data_folder import prepare_data
from tests.support.processes import manage, up

pytestmark = pytest.mark.once("looks at the files that SQLite makes")

OPERATIONS = Path("docs/operations.md").read_text()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def open_folder(path: Path, bits: int = 0o755) -> Path:
    path.mkdir()
    path.chmod(bits)
    return path


def test_a_folder_that_was_there_is_made_private_with_all_that_is_in_it(
    database: None, tmp_path: Path
) -> None:
    data = open_folder(tmp_path / "data")
    with up(data):
        made = {path.name: oct(mode(path)) for path in data.iterdir()}
    assert oct(mode(data)) == "0o700"
    assert set(made.values()) == {"0o600"}
    # docs/operations.md names these files, and no others.
    table = OPERATIONS.partition("## PostgreSQL")[0]
    named = set(re.findall(r"^\| `([\w.]+)`", table, re.MULTILINE))
    assert {name.removesuffix("-wal").removesuffix("-shm") for name in made} == named


def test_commands_make_private_files_too(tmp_path: Path) -> None:
    data = open_folder(tmp_path / "data")
    done = manage("migrate", "--verbosity=0", "accounts", CHECKRAIL_DATA=str(data))
    assert done.returncode == 0, done.stderr
    assert {oct(mode(path)) for path in data.iterdir()} == {"0o600"}


def test_files_from_before_are_made_private(tmp_path: Path) -> None:
    data = open_folder(tmp_path / "data")
    names = ("checkrail.sqlite3", "checkrail.sqlite3-wal", "secret_key")
    for name in names:
        (data / name).write_text("x")
        (data / name).chmod(0o644)
    assert prepare_data(data)
    assert [oct(mode(data / name)) for name in names] == ["0o600"] * 3
    assert oct(mode(data)) == "0o700"
    assert not prepare_data(data)  # nothing left to say
    assert (data / "checkrail.sqlite3").read_text() == "x"


@pytest.mark.parametrize("name", ["somebody-elses.txt", "src"])
def test_a_folder_with_other_things_in_it_stays_but_our_files_are_private(
    tmp_path: Path, name: str
) -> None:
    data = open_folder(tmp_path / "shared")
    (data / name).touch()
    prepare_data(data)
    assert oct(mode(data)) == "0o755"
    assert oct(mode(data / "checkrail.sqlite3")) == "0o600"
    assert list(find_data_faults(data)) == []


def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path) -> None:
    data = open_folder(tmp_path / "shared", 0o777)
    (data / "somebody-elses.txt").touch()
    prepare_data(data)
    (fault,) = find_data_faults(data)
    assert "other users of this machine" in fault.msg
    data.chmod(0o1777)  # as /tmp is: others cannot replace what is ours
    assert list(find_data_faults(data)) == []


def test_a_database_that_others_can_read_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    prepare_data(data)
    (data / "secret_key").touch(mode=0o600)
    for name in ("checkrail.sqlite3", "secret_key"):
        for bits in (0o604, 0o602, 0o601):
            (data / name).chmod(bits)
            (fault,) = find_data_faults(data)
            assert f"{name} is open to other users" in fault.msg
            assert "chmod 600" in fault.msg
        (data / name).chmod(0o640)  # a group is the operator's choice
        assert list(find_data_faults(data)) == []


def test_a_group_that_may_look_loses_that_too(tmp_path: Path) -> None:
    data = open_folder(tmp_path / "data", 0o750)
    (data / "secret_key").write_text("x")
    (data / "secret_key").chmod(0o640)
    assert prepare_data(data)
    assert (oct(mode(data)), oct(mode(data / "secret_key"))) == ("0o700", "0o600")
    (data / "somebody-elses.txt").touch()
    (data / "secret_key").chmod(0o644)
    assert prepare_data(data)  # what is ours is mended in any folder


def test_what_belongs_to_somebody_else_is_left_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = open_folder(tmp_path / "data")
    monkeypatch.setattr("os.geteuid", lambda: data.stat().st_uid + 1)
    assert not prepare_data(data)
    assert oct(mode(data)) == "0o755"


def test_a_folder_that_cannot_be_made_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = manage("check", CHECKRAIL_DATA=str(tmp_path / "file" / "data"))
    assert done.returncode != 0
    assert "CHECKRAIL_DATA" in done.stderr
