"""Whole calls made to be slow, each within what the API accepts.

A text has at most 256 KiB, a body 1 MiB and 10,000 values.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from guidance.core.secrets.limits import LIMIT
from guidance.core.shell_commands.limits import MAX_CHARACTERS
from guidance.core.tools.calls import Call, CommandCall, EditCall, ToolCall
from tests.guidance.core.secrets.bombs import BOMBS, SIZE, filled
from tests.guidance.core.secrets.samples import WORD, body

_KEY = "PRIVATE " + "KEY-----"
_PROSE = "The quick brown fox jumps over the lazy dog. "
# Something for every rule to look at.
_ALL = (
    " docker login -u a -p b https://u:pw@h/ mysql -pab curl -u a:b echo ab|sudo -S"
    " token=abc gh" + "p_ab AKIA" + "ab identified by 'x' \nENV A b\n"
)
# So many names that promise a secret, each with a value, are just about looked at.
_LOOKS = LIMIT // 50
_SQL = "DELETE FROM a WHERE x AND y=1 AND z IN (1,2) "


def _use(**arguments: Any) -> ToolCall:
    return ToolCall(tool="Tool", arguments=arguments)


def _bash(command: str, **arguments: Any) -> CommandCall:
    return CommandCall(tool="Bash", command=command, arguments=arguments or None)


def _drawn(alphabet: str = WORD + " \n", *, length: int = SIZE - 1_000) -> list[str]:
    """Longer than `body` would be quick at."""
    return ["".join(Random(seed).choices(alphabet, k=length)) for seed in range(4)]


def _each(form: str, many: int, *, length: int = 12) -> str:
    return "".join(form.replace("§", body(length, seed=n)) for n in range(many))


def _script(lines: int) -> str:
    return ("echo $(" + "rm -rf a; git push -f; " * 260 + ");") * lines or "ls"


def texts_of_one_kind() -> Mapping[str, Call]:
    """What is slow for some rule of secrets, as a command, as a file, four times over."""
    calls: dict[str, Call] = {}
    for name, text in BOMBS.items():
        calls[f"{name} in a command"] = _bash(text[:MAX_CHARACTERS])
        calls[f"{name} in a file"] = EditCall(tool="Edit", file_path="a", content=text)
        part = _quarter_of_a_body(text)
        four = [f"{number}{part[number:]}" for number in range(4)]
        calls[f"{name} four times"] = _use(texts=four)
    return calls


def _quarter_of_a_body(text: str) -> str:
    """As much of the text as leaves room for three others; escapes count, too."""
    size = len(json.dumps(text, ensure_ascii=False).encode())
    return text[: len(text) * (SIZE - 200) // size]


def mixtures() -> Mapping[str, Call]:
    drawn, values = _drawn(), range(9_900)
    half = range(4_900)
    return {
        # Secrets, and much to look for them in.
        "one secret in much": _use(a="password=Zx81" + "k9", texts=drawn),
        "a wordy secret": _use(a="password=thequick" + "7", b=filled(_PROSE)),
        "an odd secret": _use(a="password=«x…»Zx8" + "1", texts=drawn),
        "short secrets": _use(a=_each("password='§'\n", 60, length=3), texts=drawn),
        "passwords": _use(a=_each("password='§'\n", _LOOKS), texts=drawn),
        "tokens": _use(a=_each(" gh" + "p_§", 8 * _LOOKS // 7, length=36), texts=drawn),
        "addresses": _use(a=_each("https://u:§@h/ ", 3 * _LOOKS // 2), texts=drawn),
        "pieces": _use(a="password=abcab" + "cabd7", texts=_drawn("abcde")),
        "a long key": _use(
            a=f"-----BEGIN {_KEY}\n{drawn[0][:250_000]}", texts=drawn[:2]
        ),
        # What looks like a secret and is none.
        "fillers": _use(
            a=_each("password=changeme-§\n", 11 * _LOOKS // 10), texts=drawn
        ),
        "cut tokens": _use(a=(" gh" + 'p_ab\nc"' + " " * 380 + "\n") * 650),
        "bundles": _use(a=("htpasswd -" + "b" * 980 + "\n") * 260),
        "logins": _use(a=("docker " + " login" * 160 + "\n") * 260),
        "users": _use(a=("curl " + " -u:" * 240 + "\n") * 260),
        "statements": _use(a=filled("identified by 'Zx81k9' ")),
        "pipes": _use(a=filled("echo Zx81k9|sudo -S\n")),
        "long pipes": _use(texts=[f"echo {text}|sudo -S" for text in _drawn(WORD)]),
        # Many small texts.
        "keys": _use(**{f"key{n}": n for n in half}),
        "names": _use(**{f"my{n}SecretKey{n}": "a" for n in half}),
        "secret keys": _use(**{f"password{n}": f"Zx81{n}k9" for n in half}),
        "long keys": _use(
            **{"é my-Secret " * 13_000 + str(n): "abc" for n in range(3)}
        ),
        "long names of signs": _use(
            **{"\u200b" * 80_000 + f"a{n}": "rm -rf /" for n in range(4)}
        ),
        "small passwords": _use(a=[f"password=Zx81{n}" for n in values]),
        "pairs": _use(
            a=[["Authorization", f"Bearer {body(24, seed=n)}"] for n in range(3_300)]
        ),
        "argv": _use(argv=["rm", "-rf", *(f"a{n}" for n in values)]),
        "words": _use(a=[["mysql", f"-p{body(8, seed=n)}"] for n in range(3_300)]),
        # Many commands.
        "commands": _use(commands=[f"rm -rf a;{n};" * 110 for n in range(199)]),
        "queries": _use(queries=[f"{_SQL * 18}{n}" for n in range(199)]),
        "holders": _use(
            a=[{"command": f"sh {n}", "stdin": "rm"} for n in range(3_300)]
        ),
        # Many long paths, each of many folders.
        "paths": ToolCall(
            tool="Read",
            arguments={"paths": [f"/home/a/{'b/' * 30}{n}" for n in values]},
        ),
        # Arguments that are not quite JSON.
        "brackets": ToolCall(tool="T", arguments_json='{"a":' + "[" * 262_000),
        "a key twice": ToolCall(
            tool="T",
            arguments_json="{" + "".join(f'"k{n}":"v",' for n in values) + '"k1":1}',
        ),
        # Slow for one part and slow for another.
        "a script and passwords": _bash(
            _script(20),
            a=_each("token: §-changeme\n", _LOOKS),
            texts=drawn,
        ),
        "queries and passwords": _bash(
            f"psql <<'E'\n{_SQL * 1_300}\nE\n",
            a=_each("token: §-changeme\n", _LOOKS),
            texts=drawn,
        ),
    }


def combinations() -> Mapping[str, Call]:
    """Each part slow for something else: a script, texts, many values, and secrets."""
    calls: dict[str, Call] = {}
    for script in (0, 3, 6, 20):
        for name, text in BOMBS.items():
            part = _quarter_of_a_body(text)[: SIZE * 7 // 8 - 1_000]
            for number, share in enumerate((2, 1)):
                texts = [f"{n}{part[n : len(part) // share]}{_ALL}" for n in range(4)]
                looks = _each(("password='§'\n", "token: §-changeme\n")[number], 300)
                calls[f"{name}/{share}, {script} lines"] = _bash(
                    _script(script), a=looks, texts=texts
                )
        for name, call in mixtures().items():
            if isinstance(call, ToolCall) and call.arguments:
                calls[f"{name}, {script} lines"] = _bash(
                    _script(script), **call.arguments
                )
    return calls
