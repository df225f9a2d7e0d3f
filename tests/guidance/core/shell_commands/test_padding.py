"""Nothing harmless that is added to a command makes it look less dangerous."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.unwrap.wrappers import WRAPPERS
from guidance.core.tools.judge_call import judge_call
from guidance.core.tools.section import ToolRules
from guidance.core.vocabulary import get_call_severity
from tests.guidance.core.shell_commands.corpus import CASES
from tests.guidance.core.shell_commands.padding import (
    ANYWHERE,
    WITHIN,
    WRAPPINGS,
    Padding,
    Wrapping,
    is_simple,
)
from tests.guidance.core.tools.builders import KEY, command
from tests.support.examples import examples
from tests.support.rows import each_row

# Rules of commands; those of tools have no rows of their own, see test_padded_tools.
BY_RULE = {name: rule.trips for name, rule in RULES.items() if rule.trips}
ROWS = tuple(dict.fromkeys(text for trips in BY_RULE.values() for text in trips))
CORPUS = tuple(dict.fromkeys(case.command for case in CASES if case.expected))
SIMPLE = tuple(filter(is_simple, ROWS))
ASKED = "require-confirmation"
PADDINGS = (*ANYWHERE, *WITHIN)
# More than any reader once took, and more than any of them takes at all.
COUNTS = st.sampled_from((1, 2, 9, 70, 1_001, 6_000))


def weigh(text: str) -> int:
    """The smaller, the worse."""
    call = command(text)
    verdict = judge_call(rules=ToolRules(), call=call, fingerprint_key=KEY)
    return get_call_severity(verdict.decision)


def list_fitting(text: str) -> list[Padding]:
    return [each for each in PADDINGS if each.fits(text)]


def assert_not_lowered(text: str, padded: str, how: str) -> None:
    assert weigh(padded) <= weigh(text), (how, text, padded[:200])


def test_every_rule_has_rows_and_every_wrapper_is_tried() -> None:
    without = {name for name in RULES if name not in BY_RULE}
    assert without == {"tool-delete", "tool-payment", "tool-bypass", "opaque-size"}
    tried = {each.text.split()[0] for each in WRAPPINGS}
    assert tried >= WRAPPERS.keys()
    assert {len(SIMPLE) > 200, len(CORPUS) > 2_000} == {True}
    used = {each.name for text in ROWS for each in list_fitting(text)}
    assert used == {each.name for each in PADDINGS}


def test_every_rule_holds_however_much_stands_before_and_behind_it() -> None:
    for number, trips in enumerate(BY_RULE.values()):
        text = trips[number % len(trips)]
        fitting = list_fitting(text)
        for count in (1, 1_001):
            padding = fitting[(number + count) % len(fitting)]
            assert_not_lowered(text, padding.pad(text, count), padding.name)


@each_row(
    ("shape", "padding"),
    [
        ("cat a.c | {}sed s/a/b/ > a.c", "cat | "),
        (
            "{}export DATABASE_URL=pg://db.invalid/a; RAILS_ENV=test rails db:drop",
            "A=1; ",
        ),
        (
            "export {}DATABASE_URL=pg://db.invalid/a; RAILS_ENV=test rails db:drop",
            "A=1 ",
        ),
        ("mv {}/etc /tmp/x", "a "),
        ("sed -i s/a/b/ {}$(find / -name x)", "a.c "),
        ("mysql -e 'DELETE FROM users {} # where id = 1'", ""),
        ("mysql -e '{}UPDATE users SET a = 1 #where id = 1'", "SELECT 1; "),
        ("git {}$ACTION origin", "--no-pager "),
        ("echo | {}rm -rf data", "xargs "),
        ("bun x {}zpool destroy tank", "bun x "),
    ],
)
def test_what_number_of_them_hid_it_once(shape: str, padding: str) -> None:
    for count in (1, 3, 30, 300):
        assert weigh(shape.format(padding * count)) <= get_call_severity(ASKED), count


@examples(2_000)
@given(st.data(), st.sampled_from(tuple(BY_RULE)))
def test_padding_never_lowers_a_decision(data: st.DataObject, rule: str) -> None:
    text = data.draw(st.sampled_from(BY_RULE[rule]))
    padded, names = text, []
    for _ in range(data.draw(st.integers(1, 2))):
        fitting = list_fitting(padded)
        padding = data.draw(st.sampled_from(fitting))
        padded = padding.pad(padded, data.draw(COUNTS))
        names.append(padding.name)
    assert_not_lowered(text, padded, " + ".join(names))


@examples(1_000)
@given(st.sampled_from(CORPUS), st.data())
def test_padding_lowers_no_row_of_the_corpus(text: str, data: st.DataObject) -> None:
    padding = data.draw(st.sampled_from(list_fitting(text)))
    padded = padding.pad(text, data.draw(COUNTS))
    assert_not_lowered(text, padded, padding.name)


@examples(2_000)
@given(st.sampled_from(WRAPPINGS), st.data())
def test_options_of_a_wrapper_never_lower_a_decision(
    wrapping: Wrapping, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(ROWS if wrapping.quotes else SIMPLE))
    fitting = list_fitting(text) if wrapping.quotes else []
    padding = data.draw(st.sampled_from([None, *fitting]))
    count = data.draw(COUNTS)
    inner = text if padding is None else padding.pad(text, data.draw(COUNTS))
    once = wrapping.wrap(text, options=1)
    padded = wrapping.wrap(inner, options=count)
    how = f"{count} options, {padding.name if padding else 'nothing'} within"
    assert_not_lowered(once, padded, how)


@examples(1_000)
@given(st.sampled_from(WRAPPINGS), st.sampled_from(SIMPLE), st.integers(2, 30))
def test_a_wrapper_in_itself_never_lowers_a_decision(
    wrapping: Wrapping, text: str, depth: int
) -> None:
    """Too many of them are for a person."""
    once = again = wrapping.wrap(text, options=1)
    for _ in range(depth):
        # What is quoted in quotes doubles each time.
        if len(again) < 20_000:
            again = wrapping.wrap(again, options=1)
    assert_not_lowered(once, again, f"{depth} of {wrapping.text}")
