"""The shell's tokens as regular expressions.

What is repeated ends before what follows it, and every alternative begins with its own
characters, so that no text takes more than a small multiple of its length.
"""

from __future__ import annotations

import re

# Characters that mean nothing special inside a word. Globs and braces are among them:
# what they become is asked later, and only where it matters.
_PLAIN = r"A-Za-z0-9_./:=@%+,^~*?\[\]{}!\-"
# What is quoted or escaped, with nothing to expand.
_QUOTED = r"""(?:'[^']*'|"[^"$`\\]*"|\\[^\r\n])"""
_END = r"(?=[ \t\r\n;|&<>()]|\Z)"

# Blank lines are one line end, however many they are.
_OPERATOR = r"\n(?:[ \t\r\n]*\n)?|&&|\|\||;;&|;;|;&|;|\|&|\||&(?!>)"
_REDIRECT = r"<<<|<<-|<<|<>|<&|>&|>>|>\||[<>](?!\()|&>>|&>"

NEXT = re.compile(
    rf"""
    # Blanks; continued lines and redirections that go nowhere are no more than that.
    [ \t\r]*(?:(?:\\\r?\n|[0-9]?>&[0-2](?=[ \t\r\n;|&)]|\Z)
                |[0-9&]?>>?[ \t]*/dev/null{_END})[ \t\r]*)*
    (?:
      # 1 plain words up to an operator or the end, 2 the operator; by far the most
      (?=([{_PLAIN}][{_PLAIN} \t]{{0,400}}))\1(?=[\n;|&()]|\Z)({_OPERATOR})?
      # 3 a run of plain words before something else; the last one may belong to that,
      # digits before < or > do
    | ((?:(?![0-9]+[<>])[{_PLAIN}][{_PLAIN}\#]*{_END}[ \t]*){{1,32}})
      # 4 operators that end a command
    | ({_OPERATOR})
      # 5 redirections; <( and >( are words
    | ((?:[0-9]+)?(?:{_REDIRECT}))
      # 6 one word with quotes or escapes, but nothing to expand
    | (?!\#)((?:[{_PLAIN}\#]+|{_QUOTED}[{_PLAIN}\#]*)(?:{_QUOTED}[{_PLAIN}\#]*)*{_END})
      # 7 8
    | (\() | (\))
      # 9 comments
    | (\#[^\n]*)
      # 10 the beginning of a word that needs a closer look
    | (.)
    | \Z
    )
    """,
    re.VERBOSE | re.DOTALL,
)
RUN, RUN_END, SHORT_RUN, OPERATOR, REDIRECT, STATIC, OPEN, CLOSE, COMMENT, OTHER = (
    range(1, 11)
)
REDIRECTION = re.compile(_REDIRECT)
TARGET = re.compile(rf"[ \t]*([{_PLAIN}]+){_END}")
BLANKS = re.compile(r"[ \t]*")

# A variable that is the whole word, which most words with a dollar sign are.
VARIABLE = re.compile(
    rf"""("?)\$(\{{?)([A-Za-z_][A-Za-z0-9_]*|[0-9@*](?![0-9]))(\}}?)("?){_END}"""
)

# Double quotes around text and plain variables; the next one takes them apart.
DOUBLE_QUOTED = re.compile(
    rf"""\"([^"$`\\]*(?:\$(?:[A-Za-z_]|\{{[A-Za-z_][A-Za-z0-9_]*\}})[^"$`\\]*)*)\"{_END}"""
)
VARIABLES = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")

# Inside a word, outside quotes.
CHUNK = re.compile(
    r"""
      ([^ \t\r\n;|&<>()'"`$\\]+)
    | '([^']*)'
    | (")
    | \\(\r?\n|.)
    | (\$)
    | `([^`\\]*(?:\\.[^`\\]*)*)`
    | ([<>])(?=\()
    | (\()
    """,
    re.VERBOSE | re.DOTALL,
)
LITERAL, SINGLE, DOUBLE, ESCAPE, DOLLAR, BACKTICK, PROCESS, PAREN = range(1, 9)

# Inside double quotes or an expanding heredoc.
QUOTED = re.compile(
    r"""
      ([^"$`\\]+)
    | \\(\r?\n|.)
    | (\$)
    | `([^`\\]*(?:\\.[^`\\]*)*)`
    | (")
    """,
    re.VERBOSE | re.DOTALL,
)
Q_LITERAL, Q_ESCAPE, Q_DOLLAR, Q_BACKTICK, Q_END = range(1, 6)

# After a dollar sign.
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!\-]")
PARAMETER = re.compile(
    r"([!#]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!\-])(?:\[([^\]\n]*)\])?"
    r"(:?[-=+?]|##?|%%?|//?|\^\^?|,,?|@|:)?"
)
ANSI_TEXT = re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)

# Arithmetic without quotes or substitutions, two levels of parentheses deep. Others are
# read as the subshells they might be.
_TEXT = r"[^()`\"'\\$]*"
_VALUE = r"\$(?![({'\"])|\$\{[^}(`\"']*\}"
_INNERMOST = rf"{_TEXT}(?:(?:{_VALUE}){_TEXT})*"
_INNER = rf"{_TEXT}(?:(?:{_VALUE}|\({_INNERMOST}\)){_TEXT})*"
ARITHMETIC = re.compile(rf"\(\({_TEXT}(?:(?:{_VALUE}|\({_INNER}\)){_TEXT})*\)\)")

ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]\n]*\])?(\+?)=")

# Segments of a static word.
SEGMENT = re.compile(r"""'([^']*)'|"([^"]*)"|\\(.)|([^'"\\]+)""", re.DOTALL)
