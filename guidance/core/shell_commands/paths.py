"""Which paths are harmless to lose, and which would take the machine with them.

Temporary folders are /tmp, /var/tmp, /dev/shm, the system's per-user ones, and what
$TMPDIR, %TEMP% and their like name. A path in one is harmless if it names something
below the folder itself, or everything in it (/tmp/*), and does not climb out with `..`.

Folders that tools make again (`disposable`) are harmless, too. Build output is not:
whether `build` may go is for the person who owns it to say.
"""

from __future__ import annotations

import re

from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.word_lists import split_names

_TEMPORARY = re.compile(
    r"(?:/private)?/(?:var/)?tmp/|/dev/shm/|/(?:private/)?var/folders/[^/]+/[^/]+/"
    r"|%(?:temp|tmp)%/|\$env:(?:temp|tmp)/|[a-z]:/(?:windows/)?temp/"
    r"|[a-z]:/users/[^/]+/appdata/local/temp/",
    re.IGNORECASE,
)
_TEMPORARY_ROOT = re.compile(r"(?:/private)?/(?:var/)?tmp|/dev/shm")
_SLASHES = re.compile(r"[/\\]+")
_FIRST = re.compile(r"[\w.@+=~*-]")
_FILE_ENDINGS = (
    *(
        ".log",
        ".txt",
        ".xml",
        ".html",
        ".json",
        ".csv",
        ".md",
        ".yml",
        ".yaml",
        ".lock",
    ),
    *(".gem", ".whl", ".tgz", ".gz", ".zip", ".tar", ".deb", ".rpm", ".jar", ".vsix"),
    *(
        ".pyc",
        ".o",
        ".so",
        ".a",
        ".tmp",
        ".bak",
        ".orig",
        ".rej",
        ".out",
        ".pid",
        ".sock",
    ),
    *(".py", ".js", ".ts", ".sh", ".rs", ".go", ".c", ".h", ".java", ".rb", ".php"),
    *(
        ".png",
        ".jpg",
        ".svg",
        ".pdf",
        ".mp4",
        ".wav",
        ".patch",
        ".diff",
        ".tsbuildinfo",
    ),
)
_SOURCES = (
    *(
        ".py",
        ".js",
        ".jsx",
        ".ts",
        ".tsx",
        ".rs",
        ".go",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".java",
    ),
    *(".kt", ".rb", ".php", ".cs", ".swift", ".scala", ".vue", ".sql", ".tf"),
)
# Names as people and agents write them: no pattern, nothing to be expanded.
_PLAIN = re.compile(r"(?:\./)?(?:[\w@+=-][\w.@+= -]*/)*[\w@+=-][\w.@+= -]*")

DISPOSABLE = (
    *("node_modules", "bower_components", ".npm", ".pnpm-store"),
    *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
    *(".tox", ".nox", ".eggs", ".venv", ".ipynb_checkpoints", "htmlcov", ".nyc_output"),
    *(".next", ".nuxt", ".turbo", ".parcel-cache", ".svelte-kit", ".angular", ".vite"),
    *(".gradle", ".terraform", ".terragrunt-cache", ".dart_tool", ".sass-cache"),
    *("DerivedData", ".phpunit.cache", ".cargo-cache", ".elixir_ls", ".stack-work"),
    *("venv", "test-results", "playwright-report", ".cache", ".swiftpm"),
    *(
        "CMakeFiles",
        "Pods",
        ".serverless",
        ".jekyll-cache",
        "elm-stuff",
        "allure-results",
        ".docusaurus",
        ".expo",
        ".aws-sam",
        "cdk.out",
        "dist-newstyle",
        ".pytype",
        ".pyre",
    ),
)
# Folders that only their tool ever makes, by names that mean nothing else.
_OF_TOOLS = split_names(
    "zig-cache .zig-cache zig-out nimcache .shadow-cljs .cpcache .bloop .metals .bsp "
    ".kotlin .cxx .externalNativeBuild .ccls-cache .nx-cache .wireit .vinxi .nitro "
    ".rollup.cache .rpt2_cache .swc .esbuild .wrangler .molecule .pdm-build .benchmarks "
    ".pio .quarto .spago .psci_modules .rebar3 .eunit .crystal .dub .contentlayer "
    ".parcel-dist .fusebox .webpack-cache .jest-cache .vitest .eslint-cache .nyc-cache"
)
# Files that test runners and editors write again.
_LEFTOVERS = split_names(
    ".coverage coverage.xml .eslintcache .stylelintcache .DS_Store .terraform.lock.hcl "
    "npm-debug.log yarn-error.log celerybeat-schedule"
)
# What compilers and packagers write beside the sources, by its ending.
_GENERATED = re.compile(
    r"(?:[\w.*-]*[\w*-])?(?:\.py[co]|\.py\[[cod]{1,3}\]|\.tsbuildinfo|\.egg-info|\.pyc\.\d+"
    r"|\.lastUpdated|\.(?:[cm]?js|css|d\.ts)\.map"
    # What editors and merges leave behind; an .orig may be the only copy of a text.
    r"|\.(?:rej|sw[op]|tmp|rs\.bk)|(?<=[\w*])~)"
)
# What tools keep outside of a project, below the folder itself.
_CACHES = re.compile(
    r"~/(?:Library/Developer/Xcode/DerivedData(?:/[\w.*-]*)?"
    r"|(?:\.cache|Library/Caches)/(?:pip|uv|[Yy]arn|go-build|golangci-lint|pre-commit|pnpm"
    r"|ms-playwright|puppeteer|Cypress|pypoetry|ccache|sccache|bazel|deno|node-gyp|Homebrew"
    r"|electron|CocoaPods|typescript|mypy|ruff|nox)(?:/.*)?"
    r"|\.cache/huggingface/hub/(?:models|datasets)--[\w.-]+|\.local/share/virtualenvs/[\w.*-]+"
    r"|\.gradle/(?:caches|daemon)(?:/.*)?|\.npm/(?:_cacache|_npx|_logs)(?:/.*)?"
    r"|\.m2/repository/\w.*|\.ivy2/cache(?:/.*)?|\.cargo/registry/(?:cache|src|index)(?:/.*)?"
    r"|go/pkg/mod/cache(?:/.*)?|\.nuget/packages/\w.*|\.pub-cache/hosted(?:/.*)?)"
    # What a package manager fetches again.
    r"|/var/(?:lib/apt/lists|cache/(?:apt(?:/archives)?|dnf|yum|apk))/(?:partial/)?[\w.*-]+"
)
# Parts of an output folder that say themselves which tool has made them.
_OUTPUT_PARTS = re.compile(
    r"(?:^|/)(?:target/(?:(?:debug|release)/[\w.]|(?:doc|nextest|criterion|classes"
    r"|test-classes|surefire-reports|failsafe-reports|generated-sources|site)(?:/|\Z))"
    r"|cypress/(?:videos|screenshots)(?:/|\Z)|resources/_gen(?:/|\Z)"
    r"|(?:var|bootstrap|wp-content|storage/framework)/cache/."
    r"|build/(?:reports|test-results|intermediates|CMakeFiles|_deps|kotlin)(?:/|\Z))"
)
_SYSTEM = split_names(
    "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys usr "
    "var Applications Library System Users Volumes Windows"
)
_ROOTS = re.compile(
    r"/+(?:\*+|\.\*?)?|~[a-z0-9_-]*/*(?:\.?\*+)?|[A-Za-z]:[/\\]*\*?"
    rf"|/+(?:{'|'.join(_SYSTEM)})/*(?:\*+)?|/(?:home|Users)/[^/]+/*(?:\*+)?"
    r"|/usr/(?:bin|lib|lib64|local|sbin|share)/*(?:\*+)?|/var/(?:lib|log)/*(?:\*+)?"
)
_HARMLESS_DEVICES = re.compile(
    r"/dev/(?:null|zero|full|stdin|stdout|stderr|fd/.*|shm/.*|u?random|pts/\d+"
    r"|(?:tcp|udp)/.*|(?:tty|cu)[\w.-]*|console|serial/.*|lp\d|usb/lp\d|dsp\d?|log|kmsg)"
)
# A disk, or a part of one, in a file of its own.
_IMAGES = (".img", ".raw", ".qcow2", ".vhd", ".vhdx", ".vmdk", ".vdi", ".ext4", ".fat")
_SYSTEM_FILES = re.compile(
    r"/etc/(?:passwd|shadow|group|gshadow|sudoers(?:\.d/.*)?|fstab|hosts|crontab"
    r"|resolv\.conf|nsswitch\.conf|environment|sysctl\.conf|default/grub|exports|selinux/config"
    r"|nginx/nginx\.conf|apt/sources\.list"
    r"|ssh/.*|pam\.d/.*|ld\.so\.\w+)|/boot/.*|/proc/sysrq-trigger|/proc/sys/.*|/sys/.*"
    r"|(?:~|/root|/home/[^/]+)/\.ssh/.*|(?:.*/)?\.git/(?!hooks/|info/).*"
)


def may_be_temporary(path: str, *, folder: str = "") -> bool:
    """Quickly: does it look like a temporary path at all?"""
    if folder and path[:1] not in ("/", "~"):
        return True
    return path[:1] in ("/", "%", "$", "\\") or path[1:2] == ":"


def is_own_file(path: str) -> bool:
    """Not one of the system's, which have a bare name or stand where it keeps them."""
    if not path or UNKNOWN in path or "/" not in path:
        return False
    return path[0] != "/" or is_temporary(path) or path.startswith("/home/")


def is_temporary(path: str, *, folder: str = "") -> bool:
    """Inside a temporary folder; relative paths stand in `folder` if that is known."""
    if folder and not path.startswith(("/", "~", UNKNOWN)) and ":" not in path:
        path = f"{folder}/{path}"
    if path[:1] not in ("/", "%", "$", "\\") and path[1:2] != ":":
        return False
    if "//" in path or "\\" in path:
        path = _SLASHES.sub("/", path)
    match = _TEMPORARY.match(path)
    if match is None:
        return False
    depth = 0
    for part in path[match.end() :].split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            depth -= 1
            if depth < 0:
                return False
            continue
        if depth == 0 and not _FIRST.match(part):
            return False
        # A component of which nothing is known might be `..` as well, and .* matches it.
        if part.startswith((UNKNOWN, ".*")):
            return False
        depth += 1
    return depth > 0


def is_temporary_root(path: str) -> bool:
    return _TEMPORARY_ROOT.fullmatch(path.rstrip("/")) is not None


def is_disposable(path: str, names: frozenset[str]) -> bool:
    """A folder that a tool makes again, or something in it; not the system's own."""
    if ".." in path:
        return False
    if path[:1] == "~" or path.startswith("/var/"):
        return UNKNOWN not in path and is_cache(path)
    if path.startswith(("/usr/", "/opt/")):
        return False
    plain = _SLASHES.sub("/", path).strip("/")
    parts = plain.split("/")
    if UNKNOWN in path:
        # `$app/node_modules`: the last of them is known, and it is not the whole.
        return parts[-1] in names and len(parts) > 1 and UNKNOWN not in parts[-1]
    return (
        not names.isdisjoint(parts)
        or not _OF_TOOLS.isdisjoint(parts)
        or parts[-1] in _LEFTOVERS
        or (path[:1] != "/" and _OUTPUT_PARTS.search(plain) is not None)
    )


def is_cache(path: str) -> bool:
    """What a tool keeps in a home or for the system, and fetches or builds again."""
    return ".." not in path and _CACHES.fullmatch(path) is not None


def is_generated(name: str) -> bool:
    """A file that a compiler or packager writes again, by its ending."""
    return len(name) < 256 and _GENERATED.fullmatch(name) is not None


def leads_away(folder: str) -> bool:
    """Into a folder of the system, a home, or nobody knows where."""
    return ".." in folder or UNKNOWN in folder or is_root(folder) or folder == "-"


def is_plain_name(path: str) -> bool:
    """One named file below the working folder: no pattern, no dot file, no way out."""
    return len(path) < 256 and _PLAIN.fullmatch(path) is not None


def looks_like_file(path: str) -> bool:
    """A plain name with the ending of a file, which -r changes nothing about."""
    return is_plain_name(path) and path.endswith(_FILE_ENDINGS)


def is_root(path: str) -> bool:
    """The whole disk, a system folder or a home."""
    return _ROOTS.fullmatch(path) is not None


def is_device(path: str) -> bool:
    """A device that holds something, or a Windows drive as such."""
    if path.startswith("/dev/"):
        return _HARMLESS_DEVICES.fullmatch(path) is None
    return path.startswith(("\\\\.\\", "\\.\\"))


def is_image(path: str) -> bool:
    """A file in the working folder that holds a disk."""
    return path.endswith(_IMAGES) and path[:1] not in ("/", "~") and ".." not in path


def is_source(path: str) -> bool:
    """A program's text, by its ending."""
    return path.endswith(_SOURCES)


def is_sink(path: str) -> bool:
    """A device that swallows what is written."""
    return path.startswith("/dev/") and _HARMLESS_DEVICES.fullmatch(path) is not None


def is_network(path: str) -> bool:
    """What the shell itself takes for a connection."""
    return path.startswith(("/dev/tcp/", "/dev/udp/"))


def is_system_file(path: str) -> bool:
    if path[:1] not in ("/", "~") and ".git/" not in path:
        return False
    return _SYSTEM_FILES.fullmatch(path) is not None
