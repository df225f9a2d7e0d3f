"""How much of one value is looked at.

A long text takes its time, and can be made of nothing but places that look like secrets.
So each search and each look is paid for, and a value that costs more than this is hidden
as a whole: nobody reads it, and nothing of it gets out.
"""

from __future__ import annotations

# A million characters, and six hundred names that promise a secret, each with a value
# that has to be judged, are within it.
LIMIT = 64_000
# Texts that may hold something are searched by every rule.
CHARACTERS_FOR_ONE = 32
# What it costs to look at a text, to read it for itself, and to read what a name says.
PRICE_OF_EACH = 2
PRICE_OF_TEXT = 40
PRICE_OF_NAME = 5
