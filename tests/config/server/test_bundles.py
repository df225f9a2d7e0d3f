"""A page asks for one stylesheet and one script, which hold every file it names."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.http import HttpResponse
from django.template import engines
from django.template.loader import get_template
from django.test import RequestFactory, override_settings

from accounts.models import Project
from config.server.assets import find_source, load_assets
from config.server.bundles import build_bundles, get_assets, get_bundles
from config.server.page_files import File, Head, list_heads
from config.server.static_files import ASK_AGAIN, FOR_A_YEAR, serve_static_files
from config.templatetags.bundles import join_files
from tests.browser.sessions import session_cookie
from tests.support.builders import Person
from tests.support.live import Live

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")

STATIC = settings.ROOT / "static"
TEMPLATES = settings.ROOT / "templates"
HEADS = list_heads(TEMPLATES)


def build_script(folder: Path, *names: str) -> str:
    head = Head((), tuple(map(File, names)), "")
    (bundle,) = build_bundles(load_assets(folder), {"page.html": head}).values()
    return bundle.body.decode()


def test_a_page_asks_for_one_stylesheet_and_one_script(
    live: Live, project: Project, alice: Person
) -> None:
    cookies = {settings.SESSION_COOKIE_NAME: session_cookie(alice.user)}
    url = f"{live.url}/p/{project.slug}/queue/"
    page = httpx.get(url, cookies=cookies, timeout=30)
    head = page.text.partition("</head>")[0]
    styles = re.findall(r'<link rel="stylesheet" href="([^"]+)"', head)
    scripts = re.findall(r'<script src="([^"]+)" defer></script>', head)
    assert (len(styles), len(scripts)) == (1, 1)
    assert page.text.count("<script") == 1
    assert "modulepreload" not in page.text
    assert '<meta name="htmx-config"' in head
    # Its parts stand in any order.
    assert "script-src 'self'" in page.headers["content-security-policy"].split("; ")
    for path, kind in ((styles[0], "text/css"), (scripts[0], "text/javascript")):
        answer = httpx.get(live.url + path)
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.headers["cache-control"] == FOR_A_YEAR


def test_every_page_has_its_bundles_as_it_is_rendered() -> None:
    """What is read off the templates is what Django makes of them."""
    assert {"base.html", "plain.html", "accounts/sign_in.html"} <= set(HEADS)
    assert len(HEADS) > 40
    for name, head in HEADS.items():
        text = render_head(name)
        wanted = [
            get_bundles()[files].name for files in (head.styles, head.scripts) if files
        ]
        named = re.findall(r'="(/static/bundles/[^"]+)"', text)
        assert named == [get_assets().get_url(each) for each in wanted], name
        assert len(re.findall("<script|stylesheet", text)) == len(wanted), name


def render_head(name: str) -> str:
    """The head alone: what stands in the body needs a project and more."""
    empty = "".join(
        f"{{% block {each} %}}{{% endblock %}}" for each in ("root", "title", "body")
    )
    page = engines["django"].from_string(f'{{% extends "{name}" %}}{empty}')
    text: str = page.render({}, RequestFactory().get("/"))
    return text


def test_every_file_of_ours_is_in_a_bundle() -> None:
    made = {bundle.name: bundle.body.decode() for bundle in get_bundles().values()}
    for path in [*STATIC.glob("css/*.css"), *STATIC.glob("js/*.js")]:
        name = path.relative_to(STATIC).as_posix()
        comment = f"/* {name} */\n" if path.suffix == ".css" else f"// {name}\n"
        assert any(comment in text for text in made.values()), name
        assert all(text.count(comment) <= 1 for text in made.values()), name


def test_a_stylesheet_holds_its_files_as_they_are_in_their_order() -> None:
    head = HEADS["console/queue/queue.html"]
    text = get_bundles()[head.styles].body.decode()
    assert text.startswith("/* css/tokens.css */\n")
    places = [text.index(f"/* {file.name} */") for file in head.styles]
    assert places == sorted(places)
    assert places[-1] == text.index("/* css/queue.css */")
    # The order of the layers comes before the first of them.
    assert re.findall(r"@layer [^;{]+", text)[0].startswith("@layer reset, tokens,")
    assert "/* css/print.css */\n@media print {\n" in text
    assert text.count("{") == text.count("}")
    for file in head.styles:
        assert get_assets()[file.name].body.decode() in text


def test_others_files_are_whole_and_have_their_licence() -> None:
    text = get_bundles()[HEADS["console.html"].scripts].body.decode()
    folder = STATIC / "vendor/htmx-4.0.0"
    licence = (folder / "LICENSE").read_text()
    assert "*/" not in licence
    assert text.startswith(f"/*! vendor/htmx-4.0.0/LICENSE\n{licence}*/\n")
    for name in ("htmx.min.js", "hx-ws.min.js"):
        assert (folder / name).read_text() in text


def test_what_a_script_imports_runs_before_it_and_once(tmp_path: Path) -> None:
    (tmp_path / "page.js").write_text('import "./a.js";\nimport "./b.js";\n')
    (tmp_path / "a.js").write_text('import { b, c } from "./b.js";\nb(c);\n')
    (tmp_path / "b.js").write_text("export function b() {}\nexport const c = 1;\n")
    assert build_script(tmp_path, "page.js", "b.js") == (
        "{\n"
        '// b.js\nconst $b = (() => {\n"use strict";\n'
        "function b() {}\nconst c = 1;\nreturn { b, c };\n})();\n"
        '// a.js\nconst $a = (() => {\n"use strict";\n'
        "const { b, c } = $b;\nb(c);\nreturn {  };\n})();\n"
        '// page.js\nconst $page = (() => {\n"use strict";\n'
        "\n\nreturn {  };\n})();\n"
        "}\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "export default 1;",
        "export let changing = 1;",
        'import * as all from "./b.js";',
        'import { a as b } from "./b.js";',
        'await import("./b.js");',
        "import.meta.url;",
    ],
)
def test_a_script_that_a_bundle_cannot_hold_stops_the_start(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "b.js").write_text("")
    (tmp_path / "a.js").write_text(f"{line}\n")
    with pytest.raises(ValueError, match=r"a\.js cannot be part of a bundle"):
        build_script(tmp_path, "a.js")


@pytest.mark.parametrize(
    "line", ['@import "b.css";', "a { src: url(b.woff2); }", "a { src: url('b.svg'); }"]
)
def test_a_stylesheet_that_looks_beside_itself_stops_the_start(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "a.css").write_text(f"{line}\n")
    head = Head((File("a.css"),), (), "")
    with pytest.raises(ValueError, match=r"a\.css cannot be part of a bundle"):
        build_bundles(load_assets(tmp_path), {"page.html": head})


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b-c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.js").write_text("export const x = 1;\n")
    text = build_script(tmp_path, "a/x.js", "b-c/x.js")
    assert re.findall(r"const (\$\w+)", text) == ["$a_x", "$b_c_x"]


def test_a_page_of_unknown_files_is_an_error() -> None:
    with pytest.raises(KeyError):
        join_files('<link rel="stylesheet" href="/static/css/queue.css">')


@override_settings(BUNDLES=False)
def test_for_work_on_the_console_every_file_is_by_itself() -> None:
    text = get_template("plain.html").render({}, RequestFactory().get("/"))
    assert '<link rel="stylesheet" href="/static/css/tokens.css">' in text
    assert '<link rel="stylesheet" href="/static/css/plain.css">' in text
    found = find_source(STATIC, "/static/js/console.js")
    assert found is not None
    assert found.asset.body == (STATIC / "js/console.js").read_bytes()
    assert not found.is_exact
    for path in (
        "/static/../config/settings.py",
        "/static//etc/passwd",
        "/static/none.js",
        "/static/\0",
        f"/static/{'long' * 100}.js",
        "/static/css",
        "/",
    ):
        assert find_source(STATIC, path) is None


def test_for_work_on_the_console_a_change_is_seen_without_a_restart(
    tmp_path: Path,
) -> None:
    (tmp_path / "static").mkdir()
    file = tmp_path / "static" / "a.css"
    file.write_text("before")
    with override_settings(BUNDLES=False, ROOT=tmp_path):
        answer = serve_static_files(lambda _request: HttpResponse(status=404))
        first = answer(RequestFactory().get("/static/a.css"))
        file.write_text("after")
        asked = RequestFactory().get(
            "/static/a.css", headers={"If-None-Match": first["ETag"]}
        )
        again = answer(asked)
    assert (first.content, again.content) == (b"before", b"after")
    assert first["Cache-Control"] == again["Cache-Control"] == ASK_AGAIN


def test_the_theme_is_in_the_page_and_nothing_else_of_the_cookie_is(live: Live) -> None:
    def read_root(theme: str) -> str:
        page = httpx.get(f"{live.url}/sign-in/", headers={"Cookie": f"theme={theme}"})
        return str(re.findall(r"<html[^>]*>", page.text)[0])

    assert read_root("dark") == '<html lang="en" data-theme="dark">'
    assert read_root("light") == '<html lang="en" data-theme="light">'
    assert read_root("x") == '<html lang="en">'
