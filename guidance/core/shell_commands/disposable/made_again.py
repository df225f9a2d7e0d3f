"""Folders that a later command of the same script makes again: `rm -rf build && cmake …`.

Build output as such is not disposable, but here the command itself says that it is only
output: what it deletes it builds anew, from sources that are still there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from guidance.core.shell_commands.disposable.whole_script import list_after, list_before
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.script_state import ScriptState
from guidance.core.shell_commands.shell.tree import Script, Simple
from guidance.core.shell_commands.word_lists import split_names

_WEB = split_names("dist build out lib .next .output public/build storybook-static")
_PYTHON = split_names("dist build")
_OBJECTS = split_names("*.o *.obj *.d *.a *.lo *.gcda *.gcno")
_COMPILED = split_names("build out obj _build") | _OBJECTS
_MICROSOFT = split_names(
    "*.obj *.pdb *.ilk *.res *.exp *.idb *.pch *.tlog *.iobj *.ipdb"
)
_ANYTHING = frozenset[str]()
# The output folders of builders; one of the words after a name must stand among its
# arguments.
_TABLE: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    **dict.fromkeys(
        ("gradle", "gradlew"),
        (
            split_names(
                "assemble build test check bootRun assembleDebug assembleRelease "
                "bundleRelease installDebug"
            ),
            split_names("build *.class"),
        ),
    ),
    **dict.fromkeys(
        ("mvn", "mvnw"),
        (
            split_names("package install verify test compile"),
            split_names("target *.class"),
        ),
    ),
    "javac": (_ANYTHING, split_names("*.class")),
    "sbt": (split_names("compile test package assembly"), split_names("target")),
    "cargo": (split_names("build b test t run check clippy"), split_names("target")),
    "dotnet": (split_names("build test publish run pack"), split_names("bin obj")),
    "msbuild": (_ANYTHING, split_names("bin obj") | _MICROSOFT),
    **dict.fromkeys(
        split_names("nmake jom cl link devenv clang-cl"), (_ANYTHING, _MICROSOFT)
    ),
    **dict.fromkeys(
        split_names("gcc g++ cc c++ clang clang++ gfortran nasm yasm as ld"),
        (_ANYTHING, _OBJECTS),
    ),
    "ghdl": (_ANYTHING, split_names("*.o *.cf")),
    **dict.fromkeys(
        split_names("ghc stack cabal"), (_ANYTHING, split_names("*.o *.hi"))
    ),
    **dict.fromkeys(
        split_names("ocamlc ocamlopt ocamlfind"),
        (_ANYTHING, split_names("*.o *.cmi *.cmo *.cmx *.cma *.cmxa")),
    ),
    "fpc": (_ANYTHING, split_names("*.o *.ppu")),
    **dict.fromkeys(split_names("erlc elixirc"), (_ANYTHING, split_names("*.beam"))),
    **dict.fromkeys(
        split_names("pdflatex xelatex lualatex latexmk latex"),
        (
            _ANYTHING,
            split_names(
                "*.aux *.log *.toc *.out *.lof *.lot *.bbl *.blg *.fls *.fdb_latexmk *.synctex.gz"
            ),
        ),
    ),
    **dict.fromkeys(
        split_names("npm pnpm yarn bun deno turbo nx lerna rush"),
        (split_names("build bundle compile"), _WEB),
    ),
    **dict.fromkeys(
        split_names("vite ng astro remix parcel rspack vue-cli-service react-scripts"),
        (split_names("build"), _WEB),
    ),
    **dict.fromkeys(
        split_names("webpack rollup tsc tsup swc babel"), (_ANYTHING, _WEB)
    ),
    "next": (split_names("build"), split_names(".next out")),
    "gatsby": (split_names("build"), split_names("public .cache")),
    "docusaurus": (split_names("build"), split_names("build .docusaurus")),
    "wasm-pack": (split_names("build"), split_names("pkg")),
    "jest": (split_names("-u --updateSnapshot"), split_names("__snapshots__ *.snap")),
    "vitest": (split_names("-u --update"), split_names("__snapshots__ *.snap")),
    "go": (split_names("vendor"), split_names("vendor")),
    "composer": (split_names("install update"), split_names("vendor")),
    "rails": (split_names("assets:precompile"), split_names("public/assets")),
    "rake": (split_names("assets:precompile"), split_names("public/assets")),
    "python": (split_names("build setup.py"), _PYTHON),
    **dict.fromkeys(
        split_names("poetry hatch uv flit pdm maturin"), (split_names("build"), _PYTHON)
    ),
    "mix": (split_names("compile test release deps.get"), split_names("_build deps")),
    "dune": (split_names("build test"), split_names("_build")),
    "flutter": (split_names("build run test"), split_names("build")),
    "swift": (split_names("build test run"), split_names(".build")),
    "zig": (split_names("build"), split_names("zig-out zig-cache .zig-cache")),
    "mkdocs": (split_names("build"), split_names("site")),
    "hugo": (_ANYTHING, split_names("public")),
    "jekyll": (split_names("build"), split_names("_site")),
    "eleventy": (_ANYTHING, split_names("_site")),
    "xcodebuild": (_ANYTHING, split_names("build")),
    "goreleaser": (split_names("build release"), split_names("dist")),
    **dict.fromkeys(split_names("make ninja scons"), (_ANYTHING, _COMPILED)),
}
_WITH_REPORTS = _WEB | {"target"}
# Targets that build nothing.
_OTHER_TARGETS = re.compile(r"(?:dist|very)?clean\b|install|help|deploy|lint|fmt|-n\Z")
_CUT = re.compile(r"(?<=\w)[:-]")
# `--coverage`, `--cov=src`, `test:coverage`.
_COVERS = re.compile(r"(?:^|[-:])cov(?:erage)?(?:=|\Z)")
# Options of builders that name the folder they make.
_OUTPUT = (
    *("-B", "-C", "-o", "-d", "--out", "--out-dir", "--outDir", "--outdir", "--output"),
    *("--builddir", "--build", "--output-dir", "--target-dir"),
)
_MAKING = split_names(
    "cmake meson ninja sphinx-build sphinx-apidoc tsc esbuild mkdocs hugo babel swc parcel "
    "protoc buf openapi-generator openapi-generator-cli openapi-typescript-codegen orval "
    "swagger-codegen graphql-codegen datamodel-codegen typedoc pdoc javadoc doxygen ncc"
)
# Folders of code that nobody writes, and the words of those that do.
_GENERATED = split_names(
    "generated __generated__ .generated gen autogen codegen mocks gql graphql pb sdk stubs "
    "bindings typings"
)
_GENERATES = re.compile(
    r"(?:.*[:._/-])?(?:generate|codegen|gen|mockery|mockgen|sqlc|protos?|protobuf)"
)
# Their scripts may do anything, also with what they were told to write.
_RUNNING_OWN = split_names(
    "python node ruby perl php bash sh zsh cp mv tar rsync curl wget unzip git mkdir touch "
    "ln docker podman ssh scp rm echo cat printf tee find sort gcc g++ cc c++ clang ld jq yq "
    "openssl ffmpeg convert sed awk xargs env sudo"
)
_SOURCES = split_names(
    "src lib app source internal cmd pkg server backend frontend docs data assets public "
    "static config migrations tests test scripts"
)
_WRITES_TO = re.compile(
    r"--?(?:o|out\w*|\w+[Dd]ir|junitxml|html|output\w*|report\w*|[\w-]*-(?:out|output|dir|path))"
)
# The words of a command, and the folders that it builds.
_Command = tuple[list[str], frozenset[str]]
# Wrappers that are looked through.
_PREFIXES = split_names(
    "npx pnpx bunx uv poetry run time env exec bundle dlx pdm yarn pnpm npm"
)


def list_made_again(
    script: Script, simple: Simple, known: ScriptState
) -> frozenset[str]:
    """The folders that certainly come after, whatever else the script does."""
    commands: list[_Command] = []
    level = simple.frames
    for item in list_after(script, simple, known.budget):
        if item.joined == "||":
            break
        level = min(level, item.frames)
        if item.frames > level and not script.trouble:
            # Inside a condition or a loop: perhaps it never runs.
            continue
        commands.append(_read_command(item, known))
    return _list_built(commands)


def list_built_before(
    script: Script, simple: Simple, known: ScriptState
) -> frozenset[str]:
    """What the commands before it have left beside the sources: `make && rm -f *.o`.

    Not the folder that a build is for: somebody may want to have what was built.
    """
    commands: list[_Command] = []
    for item in list_before(script, simple, known.budget):
        if item.frames > simple.frames:
            continue
        command = _read_command(item, known)
        if command[0][:1] == ["cd"]:
            # The same name is another folder there.
            commands = []
        else:
            commands.append(command)
    return frozenset(
        name for name in _list_built(commands) if "*" in name or name == "coverage"
    )


def _read_command(item: Simple, known: ScriptState) -> _Command:
    """What plain words build is found out once: every deletion of a script asks for all
    the others around it (bench: "commands, 3 lines")."""
    words = known.read_argv(item)
    if item.dynamic:
        return words, frozenset(_list_output(words))
    if item.output is None:
        item.output = frozenset(_list_output(words))
    return words, item.output


def _list_options(words: list[str]) -> Iterator[tuple[str, str]]:
    for word, after in pairwise(words):
        if word[:1] == "-" and after[:1] != "-":
            yield word, after
    for word in words:
        option, equals, value = word.partition("=")
        if equals and option[:1] == "-":
            yield option, value.removeprefix("./")


def list_built(commands: Iterable[list[str]]) -> frozenset[str]:
    """The folders that these commands build, one after the other."""
    return _list_built((words, frozenset(_list_output(words))) for words in commands)


def _list_built(commands: Iterable[_Command]) -> frozenset[str]:
    found: set[str] = set()
    inside = ""
    for words, output in commands:
        found |= output
        if words[:1] == ["cd"]:
            inside = words[-1].rstrip("/")
        elif inside and words[:1] == ["cmake"] and ".." in words:
            # Built in a folder of its own, which was made for it.
            found.add(inside)
    if found & _WITH_REPORTS:
        # Reports of an earlier test say nothing about what is built now.
        found.add("coverage")
    return frozenset(found)


def _list_output(words: list[str]) -> Iterator[str]:
    """The folders that a builder makes."""
    if any(map(_GENERATES.fullmatch, words[:6])):
        yield from _GENERATED
    for index in range(len(words)):
        yield from _list_own_output(words[index:])
        if words[index] not in _PREFIXES and words[index][:1] != "-":
            break


def _list_own_output(words: list[str]) -> Iterator[str]:
    name = resolve_program(words[0])
    if name in _TABLE:
        verbs, folders = _TABLE[name]
        # `build:all`, `web:build` and `build-storybook` build as well.
        given = {part for word in words[1:] for part in (word, *_CUT.split(word))}
        other = verbs is _ANYTHING and any(map(_OTHER_TARGETS.match, words[1:]))
        if not other and (not verbs or not verbs.isdisjoint(given)):
            yield from folders
    if name in ("nyc", "c8") or any(map(_COVERS.search, words[1:])):
        yield "coverage"
    if name == "sphinx-build" and len(words) > 2:
        output = words[-1].strip("/")
        yield from (output, output.removesuffix("/html"))
    if name not in _RUNNING_OWN and "/" not in words[0]:
        for option, value in _list_options(words):
            if _WRITES_TO.fullmatch(option) and value[:1] not in ("/", "~", "."):
                folder, _, last = value.strip("/").rpartition("/")
                written = folder if "." in last else value.strip("/")
                if written not in _SOURCES:
                    yield written
    if name in _MAKING:
        for option, value in pairwise(words):
            if option in _OUTPUT or (name == "meson" and option == "setup"):
                yield value.removeprefix("./").strip("/")
        for word in words:
            option, equals, value = word.partition("=")
            if equals and option in _OUTPUT:
                yield value.removeprefix("./").strip("/")
