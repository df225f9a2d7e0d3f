"""The npm package whose gates do the same, judging the same commands in the same run."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "@claude-flow/guidance"
VERSION = "3.0.0-alpha.3"
_DRIVER = Path(__file__).with_name("peer.mjs")
_INSTALL = (
    *("npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"),
    *("--omit=optional", "--omit=peer", f"{PACKAGE}@{VERSION}", "--prefix"),
)
# Seconds: the registry may not answer, and some texts take the peer for ever.
_PATIENCE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    caught: bool
    seconds: float


class Peer:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def judge(self, commands: Sequence[str], *, rounds: int = 1) -> list[Verdict]:
        lines = [
            json.dumps({"command": command, "rounds": rounds}) for command in commands
        ]
        answered = subprocess.run(
            ["node", str(_DRIVER), str(self._folder)],
            input="\n".join(lines),
            capture_output=True,
            check=True,
            text=True,
            timeout=_PATIENCE,
        )
        return [Verdict(**json.loads(line)) for line in answered.stdout.splitlines()]

    def measure(self, texts: Mapping[str, str], *, rounds: int) -> dict[str, float]:
        """Nothing if it took longer than anybody waits."""
        try:
            verdicts = self.judge(list(texts.values()), rounds=rounds)
        except subprocess.TimeoutExpired:
            return {}
        return {
            name: verdict.seconds for name, verdict in zip(texts, verdicts, strict=True)
        }


@contextmanager
def install_peer() -> Iterator[Peer | None]:
    """None, and a line that says why, where it cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("bench: node or npm is absent, so there is no peer to compare with")
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="gates-peer-") as folder:
        try:
            subprocess.run(
                [*_INSTALL, folder],
                capture_output=True,
                check=True,
                cwd=folder,
                timeout=_PATIENCE,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            print(f"bench: npm could not install {PACKAGE}, so there is no peer")
            yield None
        else:
            yield Peer(Path(folder, "node_modules", PACKAGE))
