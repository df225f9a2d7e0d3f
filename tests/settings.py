"""The server's own settings for whoever starts pytest by itself: `pytest tests/x.py::test`.

Its data lies in a folder that is gone afterwards, never in `var/`. Processes that tests start
find the folder in their environment.
"""

from __future__ import annotations

import atexit
import os
import tempfile

if "CHECKRAIL_DATA" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="checkrail-pytest-")
    atexit.register(_folder.cleanup)
    os.environ["CHECKRAIL_DATA"] = _folder.name
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

from config.settings import *  # noqa: F403
