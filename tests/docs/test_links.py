"""No link in the documentation leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.markdown import ROOT
from tests.support.rows import each_row

PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "docker/README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


@each_row("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    text = path.read_text()
    targets = re.findall(r"\]\(([^)#\s]+)", text)
    targets += re.findall(r'(?:src|srcset)="([^"]+)"', text)
    relative = [target for target in targets if "://" not in target]
    missing = [target for target in relative if not (path.parent / target).exists()]
    assert missing == []
