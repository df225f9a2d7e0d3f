"""Files for browsers: kept for a year by a name that changes with them."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from config.server.assets import load_assets
from config.server.bundles import get_assets
from config.server.static_files import ASK_AGAIN, FOR_A_YEAR
from tests.support.browsing import open_client
from tests.support.live import Live

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")

PLAIN = {"Accept-Encoding": "identity"}
FONT = "fonts/inter-latin-wght-normal.woff2"


def test_a_name_that_says_what_is_in_it_is_kept_for_a_year(live: Live) -> None:
    url = get_assets().get_url("css/parts.css")
    assert re.fullmatch(r"/static/css/parts\.[0-9a-f]{12}\.css", url)
    answer = httpx.get(live.url + url, headers=PLAIN)
    assert answer.headers["cache-control"] == FOR_A_YEAR
    assert answer.content == (settings.ROOT / "static/css/parts.css").read_bytes()
    again = httpx.get(live.url + url, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["cache-control"] == FOR_A_YEAR


@pytest.mark.parametrize(
    "path", ["/static/css/parts.css", "/static/css/parts.0123456789ab.css"]
)
def test_a_plain_name_and_one_of_another_version_are_asked_for_anew(
    live: Live, path: str
) -> None:
    """While servers are upgraded, the page of one may ask another for its files."""
    answer = httpx.get(live.url + path, headers=PLAIN)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == ASK_AGAIN
    assert answer.content == get_assets()["css/parts.css"].body


def test_text_is_compressed_and_fonts_are_not(live: Live) -> None:
    text = live.url + get_assets().get_url("css/parts.css")
    small = httpx.get(text, headers={"Accept-Encoding": "gzip"})
    assert small.headers["content-encoding"] == "gzip"
    assert small.headers["vary"] == "Accept-Encoding"
    assert int(small.headers["content-length"]) < len(small.content) / 2
    font = httpx.get(
        live.url + get_assets().get_url(FONT), headers={"Accept-Encoding": "gzip"}
    )
    assert "content-encoding" not in font.headers
    assert font.headers["content-type"] == "font/woff2"
    assert font.headers["cache-control"] == FOR_A_YEAR


def test_both_kinds_of_server_answer_the_same(live: Live) -> None:
    path = get_assets().get_url("css/tokens.css")
    content = get_assets()["css/tokens.css"].body
    whole = httpx.get(live.url + path, headers=PLAIN)
    sync = open_client().get(path)
    assert whole.content == sync.content == content
    for answered in (whole.headers, sync.headers):
        assert answered["Content-Type"] == "text/css; charset=utf-8"
        assert answered["Content-Length"] == str(len(content))
        assert answered["X-Content-Type-Options"] == "nosniff"
    head = httpx.head(live.url + path, headers=PLAIN)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(content))
    # A part is not worth its code: who asks for one gets all of it.
    part = httpx.get(live.url + path, headers={**PLAIN, "Range": "bytes=0-9"})
    assert (part.status_code, part.content) == (200, content)
    assert httpx.post(live.url + path).status_code == 405
    for missing in ("nothing.css", "../config/settings.py", "nothing.0123456789ab.css"):
        assert httpx.get(f"{live.url}/static/{missing}").status_code == 404


def test_pages_name_files_by_what_is_in_them(live: Live) -> None:
    page = httpx.get(f"{live.url}/sign-in/").text
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', page)
    assert named
    for path in named:
        found = httpx.get(live.url + path)
        assert found.headers["cache-control"] == FOR_A_YEAR, path


def test_what_a_file_refers_to_has_its_new_name() -> None:
    assets = get_assets()
    # The same as on the page, so that the font is fetched once.
    assert f'url("{assets.get_url(FONT)}")' in assets["css/tokens.css"].body.decode()
    script = assets["js/next_review.js"].body.decode()
    assert f'from "{assets.get_url("js/toast.js")}";' in script


def test_a_change_changes_the_names_of_all_that_refer_to_it(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\n')
    (tmp_path / "b.js").write_text("export const b = 1;\n")
    before = load_assets(tmp_path)
    (tmp_path / "b.js").write_text("export const b = 2;\n")
    after = load_assets(tmp_path)
    for name in ("a.js", "b.js"):
        assert before.get_url(name) != after.get_url(name)


def test_files_that_refer_to_nothing_or_to_each_other_stop_the_start(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.js").write_text('import "./b.js";\n')
    with pytest.raises(KeyError, match=r"b\.js"):
        load_assets(tmp_path)
    (tmp_path / "b.js").write_text('import "./a.js";\n')
    with pytest.raises(ValueError, match="refer to each other"):
        load_assets(tmp_path)
