"""Whatever is typed: nothing raises, nothing dangerous is lost, data stays data."""

from __future__ import annotations

import shlex

from hypothesis import example, given
from hypothesis import strategies as st

from guidance.core.shell_commands import judge_command, judge_sql, split_command
from tests.support.examples import examples

# These stand before a simple command.
PREFIXES = (
    "sudo {}",
    "sudo -nu root {}",
    "env A=1 {}",
    "nohup {}",
    "timeout 5 {}",
    "nice -n 5 {}",
    "command {}",
    "busybox {}",
    "xargs {}",
    "strace -ffo /tmp/trace {}",
)
# These stand around any command.
AROUND = (
    "time {}",
    "{} &",
    "ls; {}",
    "ls && {}",
    "false || {}",
    "ls | {}",
    "{} | cat",
    "! {}",
    "( {} )",
    "{{ {}; }}",
    "if true; then {}; fi",
    "for x in 1 2; do {}; done",
    "while read x; do {}; done",
    "case x in *) {} ;; esac",
    "f() {{ {}; }}; f",
    "echo $( {} )",
    "echo `{}`",
    'echo "${{x:-$( {} )}}"',
    "cat <( {} )",
    "cat <<EOF\n$( {} )\nEOF",
    "bash <<'EOF'\n{}\nEOF",
    "{} # done",
    "{} 2>/dev/null",
    "{} >> /tmp/log 2>&1",
    "trap 'echo bye' EXIT\n{}",
)
# These take the command as a text, which is quoted for them.
TEXT_WRAPPERS = (
    "bash -c {}",
    "sh -ec {}",
    "eval {}",
    "ssh host {}",
    "su - bob -c {}",
    "watch {}",
    "echo {} | sh",
    "xargs -I% sh -c {}",
    "docker exec web sh -c {}",
    "kubectl exec web -- bash -c {}",
    "find . -exec sh -c {} \\;",
    "parallel {} ::: a b",
)
DANGEROUS = (
    "rm -rf data",
    "git push -f origin main",
    "git reset --hard",
    "terraform destroy",
    "docker system prune -af",
    "kubectl delete ns prod",
    "psql -c 'DROP TABLE users'",
    "dd if=/dev/zero of=/dev/sda",
    "shred -u key.pem",
    "redis-cli FLUSHALL",
)
PIECES = (
    *("rm", "-rf", "git", "ls", "data", "psql", "-c", "sudo", "find", "-exec", "cat"),
    *(
        "$x",
        '"$x"',
        "$(",
        ")",
        "`",
        "'",
        '"',
        "\\",
        "{",
        "}",
        "(",
        "[[",
        "]]",
        "((",
        "))",
    ),
    *(
        ";",
        "&&",
        "||",
        "|",
        "&",
        "\n",
        " ",
        "\t",
        "#",
        "!",
        "<<EOF\n",
        "\nEOF\n",
        "<<<",
    ),
    *(
        ">",
        ">>",
        "<",
        "2>&1",
        "<(",
        "${x:-",
        "if ",
        "then ",
        "fi",
        "case ",
        " in ",
        "esac",
    ),
    *(
        "do ",
        "done",
        "f() {",
        "A=1 ",
        "A+=(",
        "eval ",
        "DROP TABLE ",
        "WHERE ",
        "--",
        "/*",
    ),
    *(
        "*",
        "?",
        "~",
        "{a,b}",
        "$'\\x72'",
        "\x00",
        "\u202e",
        "\u0433",
        "\U0001f600",
        "é",
    ),
)
PREFIXED = st.lists(st.sampled_from(PREFIXES), max_size=3)
SURROUNDED = st.lists(st.sampled_from(AROUND), max_size=4)
COMMANDS = st.sampled_from(DANGEROUS)


def rules(command: str) -> set[str]:
    return {found.rule for found in judge_command(command)}


def holds(command: str) -> None:
    """What must be true of any text at all."""
    for found in (*judge_command(command), *judge_sql(command)):
        start, end = found.span
        assert 0 <= start <= end <= len(command)
        assert found.text == command[start:end]
    for part in split_command(command):
        assert part.text == command[slice(*part.span)]
        assert part.tokens


@examples(500, derandomize=False)
@given(st.text(max_size=200))
@example("\ud800 rm -rf x")
@example("\x00")
def test_any_text_is_judged(text: str) -> None:
    holds(text)


@examples(1_000, derandomize=False)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_pieces_of_shell_are_judged(command: str) -> None:
    holds(command)


def wrapped(command: str, wrappers: list[str]) -> str:
    for wrapper in wrappers:
        if "`" in wrapper:
            # Backticks in backticks are escaped, and their escapes as well.
            command = command.replace("\\", "\\\\").replace("`", "\\`")
        # A here-document ends only at a line of its own.
        command = wrapper.format(command) + ("\n" if "EOF" in wrapper else "")
    return command


def kept(expected: set[str], command: str) -> bool:
    """The rules still trip, or somebody is told that it cannot be read."""
    found = judge_command(command)
    return expected <= {each.rule for each in found} or any(
        each.uninspectable for each in found
    )


@examples(1_000, derandomize=False)
@given(COMMANDS, PREFIXED, SURROUNDED)
@example("rm -rf data", [], ["f() {{ {}; }}; f", "f() {{ {}; }}; f"])
def test_a_wrapper_hides_nothing(
    command: str, prefixes: list[str], around: list[str]
) -> None:
    assert kept(rules(command), wrapped(command, [*prefixes, *around]))


@examples(500, derandomize=False)
@given(COMMANDS, st.sampled_from(TEXT_WRAPPERS), PREFIXED, SURROUNDED)
def test_a_text_that_is_run_hides_nothing(
    command: str, wrapper: str, prefixes: list[str], around: list[str]
) -> None:
    text = wrapper.format(shlex.quote(command))
    if "|" not in text and not text.startswith("eval"):
        text = wrapped(text, prefixes)
    assert kept(rules(command), wrapped(text, around))


@given(COMMANDS, st.sampled_from(PREFIXES + AROUND + TEXT_WRAPPERS))
def test_one_wrapper_leaves_the_rule_as_it_is(command: str, wrapper: str) -> None:
    quoted = shlex.quote(command) if wrapper in TEXT_WRAPPERS else command
    assert rules(command) <= rules(wrapper.format(quoted))


@examples(300, derandomize=False)
@given(
    COMMANDS,
    st.sampled_from(
        (
            "echo {}",
            "printf '%s' {}",
            "grep -rn {} src",
            "rg {}",
            "git commit -m {}",
            "git log --grep {}",
            "gh pr create --title x --body {}",
            "jq --arg x {} . file.json",
            "python3 -c 'import sys; print(sys.argv[1])' {}",
            "test {} = x",
            "x={}",
            "logger {}",
            "cat > notes.md <<'END'\n{}\nEND",
            "# {}",
        )
    ),
)
def test_a_quoted_mention_is_data(command: str, form: str) -> None:
    assert judge_command(form.format(shlex.quote(command))) == ()


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_harmless_beginning_or_end_never_hides_the_rest(
    before: str, after: str
) -> None:
    """Quoted, so that they are arguments whatever they hold."""
    command = f"echo {shlex.quote(before)}; rm -rf data; echo {shlex.quote(after)}"
    assert "delete-folder" in rules(command)
