"""Names that a program puts together from literals: `os["sys" + "tem"]`, `"DEL" + "ETE"`."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte

# Without one of these nothing is put together.
SIGNS = (
    *('"+"', "'+'", '" + "', "' + '", '"+ "', "'+ '", '" +"', "' +'"),
    *('"."', "'.'", '" . "', "' . '", '".."', "'..'", '" .. "', "' .. '"),
    *('"<>"', '" <> "', '"^"', '" ^ "', '"++"', '" ++ "', '" ~ "'),
    *('"](', "'](", '"] (', "'] (", "__dict__"),
)
# Two literals with the same quotes, and what joins them in one language or another.
_JOINT = re.compile(
    r"(?<=\w)(?P<quote>[\"'])[ \t]{0,4}(?:\+\+?|\.\.?|<>|\^|~)[ \t]{0,4}(?P=quote)(?=[\w /.-])"
)
# The same told quickly (bench: "quotes in place of other lines").
_MAY_JOIN = compile_byte_pattern(
    r"[\"'][ \t]{0,4}(?:\+\+?|\.\.?|<>|\^|~)[ \t]{0,4}[\"']"
)
# `object["method"](` is `object.method(`.
_MEMBER = re.compile(r"\[\s{0,4}(?P<quote>[\"'])(\w{1,60})(?P=quote)\s{0,4}\]")


def fold_names(code: str) -> str:
    """The program with such names written out; the same text where there are none."""
    folded = code
    if _MAY_JOIN.search(encode_one_byte(code)) is not None:
        folded = _JOINT.sub("", code)
    if folded == code and "](" not in code and "] (" not in code:
        return code
    return _MEMBER.sub(r".\2", folded).replace(".__dict__", "")
