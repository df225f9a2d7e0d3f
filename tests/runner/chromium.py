"""A Chromium that the browser tests can drive, installed where that is possible."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

# The first has no window to draw: its pages cost a third of what a browser's cost.
SHELL = "chromium-headless-shell"
BROWSERS = (
    *(SHELL, "chromium", "chromium-browser"),
    *("google-chrome-stable", "google-chrome"),
)


def ensure_browser() -> None:
    """A Chromium the browser tests can drive, or a sentence about how to get one."""
    if shutil.which(SHELL):
        return
    some = any(shutil.which(name) for name in BROWSERS)
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _install_browser(update=not some)
    elif not some:
        sys.exit(
            "suite: the browser tests need Chromium, and none is installed.\n"
            f"suite: Debian: sudo apt-get install {SHELL}. Ubuntu: the same with "
            "chromium. Elsewhere: your package manager."
        )


def _install_browser(*, update: bool) -> None:
    """The shell where there is one; where there is none, any browser will do."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if update:
        subprocess.run(["apt-get", "update"], env=quiet, check=True)
    known = subprocess.run(["apt-cache", "show", SHELL], capture_output=True)
    if known.returncode != 0 and not update:
        return
    print("\n===== installing Chromium for the browser tests =====", flush=True)
    name = SHELL if known.returncode == 0 else "chromium"
    install = ["apt-get", "install", "-y", "--no-install-recommends", name]
    subprocess.run(install, env=quiet, check=update)
