"""Payloads as the database keeps them: shorter, and the same when they are read.

A step's payload is mostly words that every step has: it is kept as its values alone
(`ledger.models.step_form`). Until then, and where nothing was decided about the step, it is
kept as `z1:` and the base64 of its raw deflate (RFC 1951) with a dictionary of such words, a
fifth of its length. Other payloads, which are searched by the database itself, stand there
as they are. Hashes are those of the text itself: nothing that is proven depends on how it is
kept, and rows of all forms stand side by side.

The dictionary of `z1` is for ever: another one gets another number.
"""

from __future__ import annotations

import zlib
from binascii import a2b_base64, b2a_base64

from ledger.models.step_form import STEP_MARK, read_step

# How every packed form begins, and nothing else: other payloads are objects of JSON.
PACKED = "z"
MARK = "z1:"
# Of a longer one so much are words of people and agents that deflate makes it shorter.
LONG_STEP = 1_000
# An entry is smaller than what agents may send at once; what unpacks to more is not ours.
LONGEST = 16 * 1024 * 1024
# A step as most are; before it what is rarer.
DICTIONARY = (
    b'"waited_ms":,"counted_calls":,"review_limit":{"count":,"limit":,"scope":"agent'
    b'"},"decision":"pause","gate":"budget","gate":"coherence","gate":"uncertainty",'
    b'"gate":"rework","gate":"repetition","gate":"slope","gate":"checkpoint","limit"'
    b':,"message":"","value":}],"review":{"id":"01a","kind":"pause"},"decision":"sto'
    b'p","decision":"throttle","decision":"checkpoint","checkpoint":true,"checkpoint'
    b'_due":true,"rework":true,"intent":"feature","intent":"docs","intent":"refactor'
    b'","intent":"research","budget_slope_significant":true,"coherence_level":"degra'
    b'ded","coherence_level":"warning","coherence_source":"computed","uncertainty_le'
    b'vel":"medium","uncertainty_level":"high","uncertainty_source":"computed","cohe'
    b'rence":null,"coherence_computed":null,"coherence_level":null,"coherence_parts"'
    b':null,"coherence_reported":null,"coherence_source":"unknown","not_evaluated":['
    b'"coherence","rework","uncertainty","repetition","slope"],"uncertainty":null,"u'
    b'ncertainty_computed":null,"uncertainty_level":null,"uncertainty_parts":null,"u'
    b'ncertainty_reported":null,"uncertainty_source":"unknown","failed_calls":null,"'
    b'intent":null,"signature":null,"summary":"","cost_usd":"10.00","coherence_sourc'
    b'e":"unknown","recommended_action":"Save a checkpoint.","signature":"bash:git "'
    b',"signature":"bash:pytest ",{"engine":3,"policy":{"hash":"sha256:0123456789abc'
    b'def","name":"default","version":1},"report":{"checkpoint":false,"coherence":0.'
    b'8,"confidences":[],"cost_micros":1000,"duration_ms":1000,"failed_calls":0,"int'
    b'ent":"bug-fix","number":1,"rework":false,"signature":"bash:","summary":"","tok'
    b'ens":1000,"tool_calls":1,"uncertainty":0.2},"review":null,"running_ms":1000,"v'
    b'erdict":{"checkpoint_due":false,"decision":"continue","delay_ms":0,"findings":'
    b'[],"metrics":{"budget_remaining":{"cost_usd":"9.8","time_ms":3500000,"tokens":'
    b'980000,"tool_calls":9970},"budget_slope":0,"budget_slope_significant":false,"c'
    b'oherence":0.8,"coherence_computed":1,"coherence_level":"healthy","coherence_pa'
    b'rts":{"drift":1,"rework":1,"violations":1},"coherence_reported":0.8,"coherence'
    b'_source":"reported","not_evaluated":[],"rework_ratio":0,"rework_ratio_total":0'
    b',"steps_since_checkpoint":1,"steps_until_checkpoint":10,"uncertainty":0.2,"unc'
    b'ertainty_computed":0,"uncertainty_level":"low","uncertainty_parts":{"confidenc'
    b'e":null,"failed_calls":0,"repeated":0},"uncertainty_reported":0.2,"uncertainty'
    b'_source":"reported"},"recommended_action":"Go on."}}'
)
# Most payloads are shorter than this. For them a packer that remembers less has all it
# needs, and one that has read the dictionary is copied sooner than made (bench steps).
SHORT_TEXT = 4_000
_SHORT_PACKER = zlib.compressobj(3, zlib.DEFLATED, -13, 5, 0, DICTIONARY)


def pack_text(text: str) -> str:
    """The packed form, where it is shorter; a payload never begins like one."""
    assert not text.startswith(PACKED)
    plain = text.encode()
    if len(plain) <= SHORT_TEXT:
        packer = _SHORT_PACKER.copy()
    else:
        packer = zlib.compressobj(3, zlib.DEFLATED, -15, 8, 0, DICTIONARY)
    data = packer.compress(plain) + packer.flush()
    packed = MARK + b2a_base64(data, newline=False).decode()
    return packed if len(packed) < len(text) else text


def unpack_text(kept: str) -> str:
    """The text; what was changed by hand so that nothing can be read raises ValueError."""
    if kept.startswith(STEP_MARK):
        return read_step(kept)
    if not kept.startswith(MARK):
        return kept
    try:
        unpacker = zlib.decompressobj(-15, DICTIONARY)
        data = unpacker.decompress(
            a2b_base64(kept[len(MARK) :], strict_mode=True), LONGEST
        )
    except (zlib.error, ValueError) as error:
        raise ValueError(f"a packed text is damaged: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("a packed text is damaged: it is cut, or too long")
    return data.decode()
