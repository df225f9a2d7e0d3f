"""One server a SQLite file: a second one would not hear of the first one's commits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.runner.database import ROOT
from tests.support.processes import environment, manage, up

pytestmark = pytest.mark.once("a matter of SQLite's file alone")


def test_a_second_server_on_the_same_folder_ends_with_a_sentence(
    database: None, tmp_path: Path
) -> None:
    with up(tmp_path) as first:
        second = manage("up", "--no-demo", "--port", "0", "--data", str(tmp_path))

        assert second.returncode != 0
        said = second.stdout + second.stderr
        assert f"Another Checkrail process already serves {tmp_path}" in said
        assert "http://" not in said, "It has begun to serve."
        assert "Traceback" not in said
        assert httpx.get(f"{first.live.url}/healthz").status_code == 200
        first.stop()
    # Who has ended holds nothing any more.
    with up(tmp_path) as third:
        assert httpx.get(f"{third.live.url}/healthz").status_code == 200


def test_its_process_ends_without_a_warning(tmp_path: Path) -> None:
    hold = """if True:
        import django; django.setup()
        from config.database import file_lock; file_lock.hold_database_file()
    """
    ended = subprocess.run(
        [*(sys.executable, "-W", "always::ResourceWarning", "-c"), hold],
        cwd=ROOT,
        env=environment(CHECKRAIL_DATA=str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == ""
    assert ".lock" in {path.suffix for path in tmp_path.iterdir()}
