"""Languages that are seldom met on a command line, read by the names they share.

Each has its own words for the same few acts. One list of all of them catches what a list
per language would, and also the language that nobody thought of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from guidance.core.shell_commands.code.language import PATH, Language

# Their interpreters, and the options whose value is a program.
OTHER_INTERPRETERS: Mapping[str, tuple[str, ...]] = {
    "julia": ("-e", "--eval", "-E", "--print"),
    "elixir": ("-e", "--eval", "--rpc-eval"),
    "iex": ("-e", "--eval"),
    "erl": ("-eval",),
    "groovy": ("-e",),
    "kotlin": ("-e",),
    "scala": ("-e", "-execute-script"),
    "jshell": (),
    "clojure": ("-e", "--eval"),
    "clj": ("-e", "--eval"),
    "bb": ("-e", "--eval"),
    "sbcl": ("--eval",),
    "ecl": ("-eval", "--eval"),
    "clisp": ("-x",),
    "guile": ("-c",),
    "racket": ("-e", "--eval"),
    "csi": ("-e", "-eval"),
    "ocaml": ("-e",),
    "utop": ("-e",),
    "ghc": ("-e",),
    "ghci": ("-e",),
    "runghc": ("-e",),
    "octave": ("--eval",),
    "octave-cli": ("--eval",),
    "matlab": ("-r", "-batch"),
    "nim": ("--eval", "-e"),
    "swift": ("-e",),
    "crystal": ("eval",),
    "raku": ("-e",),
    "dart": ("-e",),
    "gjs": ("-c",),
    "qjs": ("-e", "--eval"),
    "maxima": ("--batch-string",),
    "gnuplot": ("-e",),
    "sage": ("-c",),
    "emacs": ("--eval", "-eval", "--execute"),
    "emacsclient": ("--eval", "-e"),
    "cscript": (),
    "wscript": (),
    "tcc": (),
    "v": ("-e",),
    "scala-cli": ("-e", "--execute-script", "-execute-script"),
    "swipl": ("-g", "-t"),
    "gprolog": ("--query-goal", "--init-goal"),
    "rust-script": ("-e", "--expr"),
}
_REMOVING = "|".join(
    (
        # Lisps
        r"delete-(?:directory|file|tree)\b",
        r"\berase-buffer\b",
        r"uiop:delete-[\w-]+",
        r"\bfs/delete[\w-]*",
        # Haskell, OCaml, Nim, Julia, Elixir, Erlang
        r"\bremove(?:Dir|File|DirectoryRecursive|Directory|PathForcibly)\b",
        r"\bSys\.(?:remove|rmdir)\b",
        r"\bFile\.rm(?:_rf)?!?",
        r"\bfile:del(?:ete|_dir(?:_r)?)\b",
        r":file\.del(?:ete|_dir(?:_r)?)\b",
        r"(?<![\w.:@-])rm(?=\(\s*[\"'])",
        # JVM, Swift, Go, Rust, C, Octave, scripting hosts
        r"\bdelete(?:Dir|Recursively|IfExists|Directory)\b",
        r"\bFiles\.delete\w*",
        r"\bFile\(\s*[^()\n]{0,200}\)\.delete\b",
        r"\b(?:File|Path)::delete\w*",
        r"\b(?:forEach|foreach|each\w*)\b[^;\n]{0,60}\.delete\(\s*\)",
        r"\bremoveItem\b",
        r"\bos\.Remove(?:All)?\b",
        r"\bFileUtils\.rm\w*",
        r"\bremove_(?:dir_all|dir|file)\b",
        r"(?<![\w.>])(?:unlink|rmdir|rmtree|truncate)(?=\s*\()",
        r"\.(?:unlink|rmdir|rmtree)(?=\(\s*[\"'])",
        r"\bDelete(?:Folder|File)\b",
        r"\bvim\.fn\.delete\b",
        r"(?<![\w.])delete(?=\(\s*[\"'])",
        # Zig, D, Prolog, CMake, Groovy, whatever joins the same words
        r"\bdelete_?(?:Tree|tree|file|directory\w*)\b",
        r"\bremove_?(?:tree|recurse|all|directory\w*)\b",
        r"\bREMOVE_RECURSE\b",
        r"\brmdir_?recurse\b",
    )
)
_RUNNING = "|".join(
    (
        r"shell-command(?:-to-string)?",
        r"(?:call|start)-process(?:-shell-command)?",
        r"run-(?:program|shell-command)",
        r"call(?:Command|Process)",
        r"readProcess|readCreateProcess",
        r"exec(?:Cmd(?:Ex)?|ShellCmd|Process)",
        r"(?:Sys\.command|Unix\.(?:system|execvp?|open_process\w*))",
        r"(?::os\.cmd|os:cmd|System\.(?:cmd|shell))",
        r"(?:getRuntime(?:\(\))?\.exec|ProcessBuilder|Command::new|exec\.Command)",
        r"(?:Process(?:\.(?:run|start))?|popen|system\*?|shellExecute|shell/sh|sh|shell)",
        r"(?:spawn(?:Process|Shell|_process)?|executeShell|process_create|exec[lv]p?e?)",
    )
)

OTHER = Language(
    telling=(
        *("delete", "Delete", "remove", "Remove", "rm", "unlink", "rmdir", "rmtree"),
        *("truncate", "del_dir", "system", "System", "shell", "process", "Process"),
        *(
            "exec",
            "ommand",
            "cmd",
            "popen",
            "sh ",
            "spawn",
            "REMOVE",
            "write18",
            "`",
            ".!",
            "write-region",
            "erase-buffer",
        ),
    ),
    removes=re.compile(rf"(?:{_REMOVING})\s*\(?\s*"),
    runs=re.compile(rf"(?<![\w-])(?:{_RUNNING})\s*\(?\s*(?=[\"'\[`])"),
    quotes=re.compile(
        r"`([^`\n]*)`|\\write18\s*\{([^}\n]*)\}"
        r"|[\"']([^\"'\n]+)[\"']\)?\.(?:execute\(\)|!!?|lineStream)"
    ),
    dynamic=re.compile(
        rf"(?<![\w-])(?:{_RUNNING})\s*\(?\s*\((?:apply|concat\w*|format|join|mapconcat"
        r"|replace|reverse|str|string-\w+|strcat|sprintf)\b"
    ),
    empties=re.compile(rf"\(write-region\s+\"\"\s+\w+\s+{PATH}"),
    spaced=True,
)
M4 = Language(
    telling=("syscmd",), quotes=re.compile(r"\be?syscmd\s*\(\s*[`'\"]*([^)'\"]*)")
)
# Calculators, and notebooks' own shells: a line that begins with an exclamation mark.
ESCAPING = Language(
    telling=("!", "%"),
    quotes=re.compile(r"^[ \t]*(?:!!?|%sx[ \t]|%system[ \t])([^\n=]+)", re.MULTILINE),
)
