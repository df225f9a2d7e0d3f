"""Names that a program puts together from literals: `os["sys" + "tem"]`, `"DEL" + "ETE"`."""

from __future__ import annotations

import re

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
# `object["method"](` is `object.method(`.
_MEMBER = re.compile(r"\[\s{0,4}(?P<quote>[\"'])(\w{1,60})(?P=quote)\s{0,4}\]")


def fold_names(code: str) -> str:
    """The program with such names written out; the same text where there are none."""
    folded = _JOINT.sub("", code)
    if folded == code and "](" not in code and "] (" not in code:
        return code
    return _MEMBER.sub(r".\2", folded).replace(".__dict__", "")
