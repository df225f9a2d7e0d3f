"""What to look for in a program of one language. Nothing but patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from guidance.core.regex import PatternSet, compile_byte_pattern
from guidance.core.shell_commands.code import folding
from guidance.core.shell_commands.code.purges import (
    JAVASCRIPT_PURGES,
    PYTHON_PURGES,
)

_NEVER = re.compile(r"(?!)")


# What `signs` are about, in their order.
TELLING, FOLDING, OPENING = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Each pattern ends where the arguments of the call begin.

    `masked` are strings and comments that are blanked before the others are tried, so
    that a mention is not taken for a call; a language without it is searched as it is.
    """

    # Pieces of text without which nothing else is tried.
    telling: tuple[str, ...]
    # Pieces that stand in most programs, and with which `empties` alone is tried.
    opening: tuple[str, ...] = ()
    # Which of them a program holds at all, or names to be folded; most hold none
    # (bench: "a program read").
    signs: PatternSet = field(init=False)
    removes: re.Pattern[str] = _NEVER
    # Calls that take a path or text as first argument and run it, or a list of words.
    runs: re.Pattern[str] = _NEVER
    # Text between these is given to a shell as it stands.
    quotes: re.Pattern[str] = _NEVER
    # Builds code or names at run time.
    dynamic: re.Pattern[str] = _NEVER
    # A statement in a group, if its first word says that it is one.
    statements: re.Pattern[str] = _NEVER
    # Text in a group that is printed into a shell.
    scripts: re.Pattern[str] = _NEVER
    # Empties tables or stores.
    purges: re.Pattern[str] = _NEVER
    queries: re.Pattern[str] = _NEVER
    forks: re.Pattern[str] = _NEVER
    # Opens a file to empty it, with group `path`; tried unmasked: a mode stands in quotes.
    empties: re.Pattern[str] = _NEVER
    # Arguments of a call are separated by blanks alone.
    spaced: bool = False
    masked: re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        patterns = [
            compile_byte_pattern("|".join(map(re.escape, pieces)))
            for pieces in (self.telling, folding.SIGNS, self.opening)
            if pieces
        ]
        object.__setattr__(self, "signs", PatternSet(*patterns))


# A path that is written out.
PATH = r"[rRbuf]?[\"'](?P<path>[^\"'\n]{1,300})[\"']"
_PATH2 = PATH.replace("path", "path2")
_SQL_CALL = (
    r"\.(?:execute|executemany|executescript|exec_driver_sql|raw|query|read_sql\w*)\s*\("
    r"(?:\s*(?:\w+\.)?text\s*\()?"
)

PYTHON = Language(
    telling=(
        *("remove", "unlink", "rmdir", "rmtree", "system", "popen", "Popen", "exec"),
        *("subprocess", "spawn", "eval", "fork", "compile", "__import__", "getattr"),
        *("import_module", "check_", "getoutput", "delete", "drop", "flush", "marshal"),
        *("truncate", "query", "read_sql", "raw", "move", "posix_spawn", "terminate_"),
        *("purge_", "destroy_", ".prune", ".run(", ".sudo("),
    ),
    opening=("open(", "write_", ".write(", "/dev/null", ".git."),
    removes=re.compile(
        r"\bos\.(?:remove|unlink|rmdir|removedirs|truncate)\s*\(|\bshutil\.rmtree\s*\("
        r"|\.(?:unlink|rmdir|rmtree)\s*\(|(?<![.\w])(?:rmtree|unlink|rmdir)\s*\("
        r"|\bfrom\s+os\s+import\b[^\n;]{0,80}\bremove\b"
        r"|\bmap\s*\(\s*(?:os\.(?:remove|unlink|rmdir)|shutil\.rmtree)\b"
        r"|\bshutil\.move\s*\((?=[^,\n]{1,200},\s*tempfile\b)"
    ),
    # What may not stand before a call is looked at after its name, so that each form
    # begins with a letter to search for (bench: "a program read").
    empties=re.compile(
        rf"open(?<![.\w]open)\s*\(\s*{PATH}\s*,\s*[\"'](?:w|w\+|wb)[\"']\s*\)"
        r"\s*(?:\.\s*(?:close|truncate)\s*\(|;|\Z)"
        r"|\.write_(?:text|bytes)\(\s*b?(?:''|\"\")\s*\)"
        rf"|open(?<![.\w]open)\s*\(\s*{_PATH2}[^()\n]{{0,60}}\)\s*\.\s*write\(\s*b?(?:''|\"\")\s*\)"
        r"|os\.(?:rename|replace)\([^,\n]{1,200},\s*[\"']/dev/null[\"']"
        r"|shutil\.move\([^,\n]{1,200},\s*[\"']/dev/null[\"']"
        r"|\.git\.(?:reset\([^)\n]{0,40}--hard|clean\(|push\([^)\n]{0,80}force)"
    ),
    runs=re.compile(
        r"(?:\bos|[\])])\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?)\s*\("
        r"|\bsubprocess\.\w+\s*\(|\bpty\.spawn\s*\(|create_subprocess_\w+\s*\("
        r"|(?<![.\w])(?:check_output|check_call|Popen|system|popen|getoutput)\s*\("
        # fabric, invoke and paramiko: a text for a shell, here or elsewhere
        r"|(?<!subprocess)\.(?:run|sudo|exec_command)\((?=\s{1,200}[,)])"
    ),
    dynamic=re.compile(
        r"(?<![.\w])(?:exec|eval|__import__)\s*\(|\bbuiltins\.(?:exec|eval)\s*\("
        r"|\bgetattr\s*\(\s*(?:os|shutil|subprocess|builtins|__builtins__)\b"
        r"|\bmarshal\.loads\s*\(|\bimport_module\s*\("
        r"|\bimport\s+(?:os|shutil|subprocess)\s+as\b"
        r"|\b(?:system|popen|Popen|rmtree|remove|unlink|run|call)\s+as\s+\w"
    ),
    purges=PYTHON_PURGES,
    queries=re.compile(_SQL_CALL),
    forks=re.compile(r"\bwhile\b(?:[^f]|f(?!ork\b)){0,60}fork\s*\("),
    masked=re.compile(
        r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
        r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
        r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*\'|\#[^\n]*',
        re.DOTALL,
    ),
)

JAVASCRIPT = Language(
    telling=(
        "$`",
        "$out",
        "rm",
        "unlink",
        "remove",
        "emptyDir",
        "exec",
        "spawn",
        "eval",
        "Function",
        "runIn",
        "drop",
        "delete",
        "query",
        "flush",
        "truncate",
        "writeFile",
        "require(",
        "createWriteStream",
        "updateMany",
        ".del(",
        "destroy",
        "force",
        "new Delete",
        "new Terminate",
        "new Purge",
    ),
    removes=re.compile(
        r"\b(?:fs|fsp|fse|promises)\.(?:rm|unlink|rmdir|remove|emptyDir|truncate)(?:Sync)?\s*\("
        r"|\brequire\(\s*\)(?:\.promises)?\.(?:rm|unlink|rmdir|remove|truncate)(?:Sync)?\s*\("
        r"|\b(?:rmSync|unlinkSync|rmdirSync|removeSync|emptyDirSync|rimraf(?:Sync)?)\s*\("
        r"|\b(?:truncateSync|Bun\.file\([^()\n]{0,200}\)\.(?:delete|unlink))\s*\("
        r"|\bDeno\.remove(?:Sync)?\s*\("
        r"|\.(?:rm|unlink|rmdir|truncate)\s*\("
        r"|\bimport\(\s*\)\s*\)?\.(?:remove|emptyDir)(?:Sync)?\s*\("
    ),
    runs=re.compile(
        r"\b(?:execSync|execFileSync|spawnSync|execFile|spawn|Deno\.Command)\s*\("
        r"|(?:child_process|\bcp|require\(\s*\))\.exec\s*\(|(?<![.\w])exec\s*\("
    ),
    dynamic=re.compile(
        r"(?<![.\w])eval\s*\(|\bnew\s+Function\s*\(|\bvm\.\w+\s*\(|\.runIn\w+\s*\("
        r"|(?:\brequire\(\s*\)|\b(?:fs|cp|child_process))\s*\[[^\]\n]{0,80}\+"
        r"|(?:\brequire\(\s*\)|\b(?:fs|cp|child_process))\s*\[\s*\w{1,40}\s*\]\s*\("
        r"|\bprocess\.binding\s*\(|\[\s+\+\s+\]\s*\("
        r"|\b(?:exec|spawn|rm|unlink)\w{0,8}\s*:\s*\w[^{}\n]{0,80}\}\s*=\s*require\b"
        r"|\b(?:exec|spawn|rm|unlink|rmdir|truncate)(?:File)?(?:Sync)?\s+as\s+\w"
    ),
    purges=JAVASCRIPT_PURGES,
    statements=re.compile(
        r"(?<![\w)])[A-Za-z_$][\w$.]{0,60}`([^`\\]*(?:\\.[^`\\]*)*)`"
    ),
    queries=re.compile(r"\.(?:query|execute|exec|raw|run|\$executeRawUnsafe)\s*\("),
    quotes=re.compile(r"(?<![\w)])(?:Bun\.)?\$`([^`\\]*(?:\\.[^`\\]*)*)`"),
    empties=re.compile(
        rf"\bwriteFile(?:Sync)?\(\s*{PATH}\s*,\s*(?:''|\"\"|``)\s*[,)]"
        r"|\brequire\(\s*[\"'](?:rimraf|del|trash)[\"']\s*\)(?:\.\w{1,20})?\s*\("
        rf"|\bcreateWriteStream\(\s*{_PATH2}\s*\)\s*(?:;|\.end\(\s*\)|\Z)"
    ),
    masked=re.compile(
        r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*\'|`[^`\\]*(?:\\.[^`\\]*)*`'
        r"|//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/"
        r"|(?<=[(,=:\[!&|?{};])\s*/"
        r"(?:(?=([^/\\\n\[]{1,200}))\1|\\.|\[(?:[^\]\\\n]|\\.){0,32}\]){1,32}/",
        re.DOTALL,
    ),
)

PERL = Language(
    telling=(
        "unlink",
        "rmtree",
        "remove_tree",
        "rmdir",
        "system",
        "exec",
        "qx",
        "`",
        "eval",
        "fork",
        "do(",
        "open",
        "truncate",
        "&$",
        "&{",
    ),
    empties=re.compile(
        rf"\btruncate\s*\(?\s*{PATH}|\bopen\s*\(?[^;\n]{{0,40}}[\"']\s*>\s*"
        r"(?:[\"']\s*,\s*[\"'])?(?P<path2>[^\"'>&|\n;]{1,200})[\"']\s*\)?\s*(?:;?\s*\Z|;\s*close)"
    ),
    removes=re.compile(
        r"\b(?:unlink|rmtree|remove_tree|rmdir)\b\s*\(?\s*"
        r"(?=[\$@\"'<*;]|\Z|(?:glob|qw|for|foreach|readdir|map|grep|sort|shift|pop|join"
        r"|sprintf|catdir|catfile|getcwd|cwd)\b|File::\w)"
    ),
    runs=re.compile(r"\b(?:system|exec)\b\s*\(?\s*(?=[\$@\"'q{]|\w{1,40}\s*\()"),
    quotes=re.compile(
        r"`([^`]*)`|\bqx\s*[{(\[/|]([^})\]/|]*)[})\]/|]"
        # A pipe to or from a command.
        r"|\bopen\b[^;\n\"']{0,60}[\"']\s*\|\s*([^\"'\n-][^\"'\n]*)[\"']"
        r"|\bopen\b[^;\n\"']{0,60}[\"']([^\"'\n|]*)\|\s*[\"']"
        r"|[\"'](?:\|-|-\|)[\"']\s*,\s*[\"']([^\"'\n]*)[\"']"
    ),
    # What is written into a shell is not followed.
    dynamic=re.compile(
        r"\beval\b\s*\(?\s*(?:[\$\"'q]|(?:un)?pack\b|decode|join\b)|&\s*\$\w{1,40}\s*\(|&\s*\{\s*[\"']"
        r"|\bopen\b[^;\n]{0,60}\|\s*-?[\"'\s,]{0,8}(?:/bin/)?(?:ba|da|z|k)?sh\b"
    ),
    forks=re.compile(r"\bfork\b[^;]{0,40}?\bwhile\b|\bwhile\b[^;]{0,40}?\bfork\b"),
)

RUBY = Language(
    telling=(
        "rm",
        "remove",
        "delete",
        "unlink",
        "system",
        "exec",
        "spawn",
        "%x",
        "`",
        "popen",
        "Open3",
        "eval",
        "destroy",
        "drop",
        "fork",
        "send",
        "truncate",
        "clear",
        "purge",
        "File.",
        "IO.",
    ),
    removes=re.compile(
        r"\bFileUtils\.(?:rm\w*|remove\w*)\b\s*\(?|\b(?:rm_rf|rm_r|remove_dir)\b\s*\(?"
        r"|\b(?:File|Dir|Pathname)\.(?:delete|unlink|rmdir|truncate)\b\s*\(?"
        r"|\)\.(?:rmtree|unlink)\b"
        r"|\.(?:method|(?:public_)?send)\s*\(?\s*[:\"'](?:rm\w*|remove\w*|unlink|rmtree)\b"
    ),
    empties=re.compile(
        rf"\b(?:File|IO)\.write\s*\(?\s*{PATH}\s*,\s*(?:''|\"\")"
        rf"|\bFile\.(?:open|new)\s*\(?\s*{_PATH2}\s*,\s*[\"']w[\"']\s*\)?\s*"
        r"(?:\.close|\{\s*\}|;|\Z)"
    ),
    runs=re.compile(
        r"(?<![.\w])(?:system|exec|spawn)\b\s*\(?\s*(?=[\"'a-zA-Z_\[*])"
        r"|\b(?:Kernel|Process)\.(?:system|exec|spawn)\s*\(?"
        r"|\bIO\.popen\s*\(?|\bOpen3\.\w+\s*\(?"
        r"|\b(?:public_|__)?send(?:__)?\s*\(?\s*[:\"'](?:system|exec|spawn)[\"']?\s*,\s*"
    ),
    quotes=re.compile(r"`([^`]*)`|%x[{(\[|]([^})\]|]*)[})\]|]"),
    dynamic=re.compile(r"(?<![.\w])(?:eval|instance_eval|class_eval)\b\s*\(?"),
    purges=re.compile(
        r"\b[A-Z]\w*\.(?:delete_all|destroy_all)\b|\.flush(?:all|db)\b"
        r"|\b(?:in_batches|find_each|each)\s*\(\s*&:(?:delete|destroy|clear|purge)"
    ),
    queries=re.compile(r"\.(?:execute|exec_query|exec|find_by_sql)\s*\(?\s*"),
    forks=re.compile(r"\bloop\b[^\n]{0,40}?\bfork\b|\bfork\b[^\n]{0,40}?\bwhile\b"),
)

PHP = Language(
    telling=(
        "unlink",
        "rmdir",
        "exec",
        "system",
        "passthru",
        "popen",
        "proc_open",
        "eval",
        "`",
        "delete",
        "truncate",
        "query",
        "assert",
        "create_function",
        "base64",
        "call_user_func",
        "file_put_contents",
        "fopen",
        "ftruncate",
        '"."',
        "'.'",
    ),
    empties=re.compile(
        rf"\bfile_put_contents\(\s*{PATH}\s*,\s*(?:''|\"\")|\bftruncate\s*\("
        rf"|\bfopen\(\s*{_PATH2}\s*,\s*[\"']w[\"']\s*\)\s*\)?\s*;"
    ),
    removes=re.compile(
        r"(?<![>\w:])(?:unlink|rmdir)\s*\(|\bFile::delete\w*\s*\("
        r"|\(\s*[\"'](?:unlink|rmdir)[\"']\s*,"
    ),
    runs=re.compile(
        r"(?<![>\w:])(?:exec|shell_exec|system|passthru|popen|proc_open|pcntl_exec)\s*\("
    ),
    quotes=re.compile(r"`([^`]*)`"),
    dynamic=re.compile(
        r"(?<![>\w:])(?:eval|assert|create_function|call_user_func(?:_array)?)\s*\("
        r"|(?P<name>\$\w{1,40})\s*=\s*[\"']\w{0,40}[\"']\s*\.\s*[\"'][^;\n]{0,80};"
        r"[^\n]{0,80}(?P=name)\s*\(|\(\s*[\"']\w{1,40}[\"']\s*\.[^()\n]{1,80}\)\s*\("
    ),
    purges=re.compile(
        r"(?:::|->)truncate\s*\(|::query\(\)->delete\s*\(|->flush(?:all|db)\s*\("
    ),
    queries=re.compile(r"(?:->|::)(?:exec|query|statement|unprepared)\s*\("),
)

LUA = Language(
    telling=(
        "os.",
        "io.",
        "load",
        "ffi",
        "vim.",
    ),
    empties=re.compile(
        rf"\bio\.open\s*\(\s*{PATH}\s*,\s*[\"']w[\"']\s*\)\s*(?::close|;|\Z)"
    ),
    removes=re.compile(r"\bos\.remove\s*\(?|\bvim\.fn\.delete\s*\("),
    runs=re.compile(
        r"\bos\.execute\s*\(?|\bio\.popen\s*\(?|\bvim\.fn\.system(?:list)?\s*\(|\.C\.system\s*\("
    ),
    dynamic=re.compile(r"\bload(?:string)?\s*\("),
)

AWK = Language(
    telling=("system", "|", ">"),
    # A text for a shell to read.
    scripts=re.compile(
        r"\bprintf?\s*\(?\s*\"([^\"\n]*)\"[^|\n;}]{0,40}\|&?\s*\"(?:/bin/)?(?:ba|da|z|k)?sh\b"
    ),
    empties=re.compile(rf"\bprintf\s*\(?\s*\"\"\s*\)?\s*>\s*{PATH}"),
    runs=re.compile(r"\bsystem\s*\("),
    quotes=re.compile(r"\|&?\s*\"([^\"]*)\"|\"([^\"]*)\"\s*\)?\s*\|&?\s*getline"),
    dynamic=re.compile(r"\|\s*[a-z_]\w*\s*(?:[;}\n]|$)"),
)

R = Language(
    telling=(
        "unlink",
        "file.remove",
        "system",
        "shell",
        "eval",
    ),
    removes=re.compile(r"\b(?:unlink|file\.remove)\s*\("),
    runs=re.compile(r"(?<![.\w])(?:system2?|shell)\s*\("),
    dynamic=re.compile(r"\beval\s*\(\s*parse\s*\("),
)

APPLESCRIPT = Language(
    telling=(
        "do shell script",
        "delete",
        "empty",
    ),
    removes=re.compile(r"\bdelete\s+(?=\w)|\bempty\s+(?:the\s+)?trash"),
    runs=re.compile(r"\bdo shell script\s+"),
)

TCL = Language(
    telling=(
        "delete",
        "exec",
        "spawn",
        "system",
    ),
    removes=re.compile(r"\bfile\s+delete\s+(?:-force\s+)?"),
    quotes=re.compile(r"\b(?:exec|spawn|system)\s+(?:-\w+\s+)?([^;\n\]]+)"),
)
