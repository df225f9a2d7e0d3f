"""Folders that a later command of the same script makes again: `rm -rf build && cmake …`.

Build output as such is not disposable, but here the command itself says that it is only
output: what it deletes it builds anew, from sources that are still there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.shell.tree import Script, Simple
from guidance.core.shell_commands.word_lists import split_names

_WEB = split_names("dist build out lib .next .output public/build storybook-static")
_PYTHON = split_names("dist build")
# The output folders of builders; the words after a name must stand among its arguments.
_TABLE: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "gradle": (split_names("assemble build test check bootRun"), split_names("build")),
    "gradlew": (split_names("assemble build test check bootRun"), split_names("build")),
    "mvn": (split_names("package install verify test compile"), split_names("target")),
    "mvnw": (split_names("package install verify test compile"), split_names("target")),
    "sbt": (split_names("compile test package assembly"), split_names("target")),
    "cargo": (split_names("build b test t run check clippy"), split_names("target")),
    "dotnet": (split_names("build test publish run pack"), split_names("bin obj")),
    "npm": (split_names("build"), _WEB),
    "pnpm": (split_names("build"), _WEB),
    "yarn": (split_names("build"), _WEB),
    "bun": (split_names("build"), _WEB),
    "vite": (split_names("build"), _WEB),
    "webpack": (frozenset(), _WEB),
    "rollup": (frozenset(), _WEB),
    "tsc": (frozenset(), _WEB),
    "next": (split_names("build"), split_names(".next out")),
    "jest": (split_names("--coverage"), split_names("coverage")),
    "vitest": (split_names("--coverage"), split_names("coverage")),
    "nyc": (frozenset(), split_names("coverage .nyc_output")),
    "c8": (frozenset(), split_names("coverage")),
    "tsup": (frozenset(), _WEB),
    "python": (split_names("build setup.py"), _PYTHON),
    "poetry": (split_names("build"), _PYTHON),
    "hatch": (split_names("build"), _PYTHON),
    "uv": (split_names("build"), _PYTHON),
    "mix": (split_names("compile test release"), split_names("_build")),
    "dune": (split_names("build test"), split_names("_build")),
    "flutter": (split_names("build run test"), split_names("build")),
    "swift": (split_names("build test run"), split_names(".build")),
    "zig": (split_names("build"), split_names("zig-out zig-cache .zig-cache")),
    "mkdocs": (split_names("build"), split_names("site")),
    "hugo": (frozenset(), split_names("public")),
    "jekyll": (split_names("build"), split_names("_site")),
}
# Options of builders that name the folder they make.
_OUTPUT = ("-B", "-o", "--out-dir", "--outDir", "--output", "--builddir")
_MAKING = split_names("cmake meson sphinx-build tsc esbuild mkdocs hugo")
_OUTPUT_OPTIONS = split_names(
    "--out --out-dir --outdir --output --output-dir --output_dir --output-path --outputDir "
    "--logdir --log-dir --save-dir --run-dir --work-dir --results-dir --report-dir --destdir"
)
_IDLE = split_names("echo printf true : test [ cat ls rm")
_SOURCES = split_names(
    "src lib app source internal cmd pkg server backend frontend docs data assets public "
    "static config migrations tests test scripts . .. ~"
) | {""}
# Later commands that are looked at, and wrappers that are looked through.
_MOST = 24
_PREFIXES = split_names("npx pnpx bunx uv poetry run time env exec bundle")


def list_made_again(script: Script, simple: Simple) -> frozenset[str]:
    """The folders that certainly come after, whatever else the script does."""
    found: set[str] = set()
    after = False
    level = simple.frames
    inside = ""
    for item in script.items[-_MOST:] if len(script.items) > _MOST else script.items:
        if item is simple:
            after = True
        elif after and isinstance(item, Simple):
            if item.joined == "||":
                break
            level = min(level, item.frames)
            if item.frames > level:
                # Inside a condition or a loop: perhaps it never runs.
                continue
            words = [word for word in item.words if isinstance(word, str)]
            found.update(list_output(words))
            if words[:1] == ["cd"]:
                inside = words[-1].rstrip("/")
            elif inside and words[:1] == ["cmake"] and ".." in words:
                # Built in a folder of its own, which was made for it.
                found.add(inside)
    return frozenset(found)


def list_made_before(script: Script, simple: Simple) -> frozenset[str]:
    """Folders that an earlier program was told to write its output to."""
    found: set[str] = set()
    if simple.joined == "||":
        return frozenset()
    for item in script.items[:_MOST]:
        if item is simple:
            break
        if isinstance(item, Simple) and item.words and item.words[0] not in _IDLE:
            words = [word for word in item.words if isinstance(word, str)]
            for word, following in pairwise((*words, "")):
                option, equals, value = word.partition("=")
                if option in _OUTPUT_OPTIONS or (word == "venv" and "-m" in words):
                    found.add((value if equals else following).rstrip("/"))
    return frozenset(path for path in found if path.split("/")[0] not in _SOURCES)


def list_output(words: list[str]) -> Iterator[str]:
    """The folders that a builder makes."""
    while len(words) > 1 and words[0] in _PREFIXES and words[1] not in _TABLE_WORDS:
        words = words[1:]
    name = resolve_program(words[0]) if words else ""
    if name in _TABLE:
        verbs, folders = _TABLE[name]
        if not verbs or not verbs.isdisjoint(words):
            yield from folders
    if name == "sphinx-build" and len(words) > 2:
        yield words[-1].strip("/")
    if name in _MAKING:
        for option, value in pairwise(words):
            if option in _OUTPUT or (name == "meson" and option == "setup"):
                yield value.strip("/")


# What makes the word before it more than a prefix, as in `uv build`.
_TABLE_WORDS = frozenset(verb for verbs, _ in _TABLE.values() for verb in verbs)
# The programs that this is asked about, and the words they then have; none: always.
BUILDERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_PREFIXES, _TABLE_WORDS | _TABLE.keys()),
    **{name: verbs for name, (verbs, _) in _TABLE.items()},
    **dict.fromkeys(_MAKING, frozenset()),
}
