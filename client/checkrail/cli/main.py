"""The command `checkrail`.

Exit codes: 0 done; 1 refused, not found or broken; 2 wrong use or not set up;
3 the server cannot be reached. `hook` and `verify` have their own, see their help.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from checkrail.errors import CheckrailError, ConfigurationError, Unreachable

RULINGS = {
    "approve": "let the agent go on, or the call run",
    "deny": "refuse a call or a request; the reason goes to the agent",
    "retry": "give an exhausted gate check new attempts",
    "skip": "let the run go on with the gate not passed; needs --note",
    "abort": "end the run",
}
# These read their own words: they belong to other modules, and to other programs.
DELEGATED = ("verify", "hook", "install", "mcp")


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words and words[0] in DELEGATED:
            return _delegate(words[0], words[1:])
        options = _build_parser().parse_args(words)
        handle: Callable[[argparse.Namespace], int] = options.handle
        return handle(options)
    except CheckrailError as error:
        return _report_error(error)
    except BrokenPipeError:
        # The reader of a pipe has seen enough: `checkrail tail … | head`.
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _report_error(error: CheckrailError) -> int:
    from checkrail.cli.output import print_error
    from checkrail.cli.safe_text import make_visible

    print_error(f"checkrail: {make_visible(str(error))}")
    if isinstance(error, ConfigurationError):
        return 2
    return 3 if isinstance(error, Unreachable) else 1


def _delegate(name: str, words: list[str]) -> int:
    if name == "verify":
        from checkrail.verify import main as verify

        return verify(words)
    if name == "mcp":
        from checkrail.mcp import main as mcp

        return mcp(words)
    from checkrail.hooks import run

    return run(words if name == "hook" else [name, *words])


def _build_parser() -> argparse.ArgumentParser:
    # Here and not above: a hook is started for every tool call and needs none of it.
    from checkrail.cli import doctor, halts, login, queue, runs

    parser = argparse.ArgumentParser(
        prog="checkrail",
        description="The agents' and reviewers' side of Checkrail, in a terminal.",
        epilog="Also: verify FILE, install claude-code|codex, hook, mcp "
        "(each has --help).",
    )
    parser.add_argument("--version", action="version", version=_get_version())
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(
        name: str, handle: Callable[[argparse.Namespace], int], help_text: str
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=help_text, description=help_text)
        made.set_defaults(handle=handle)
        made.add_argument("--json", action="store_true", help="print JSON")
        return made

    sign_in = command("login", login.sign_in, "sign in with a personal token")
    sign_in.add_argument("--url", help="the server, for example http://127.0.0.1:8000")
    sign_in.add_argument(
        "--token-stdin", action="store_true", help="read the token from standard input"
    )
    command("logout", login.sign_out, "forget the saved token")

    listed = command("runs", runs.print_runs, "the newest runs")
    listed.add_argument("--status", help="running, paused, stopped, completed …")
    listed.add_argument("--agent", help="only this agent's")
    listed.add_argument("-q", help="only tasks with these words")
    listed.add_argument("--limit", type=int, default=20, metavar="N")

    followed = command("tail", runs.follow_run, "follow a run, entry by entry")
    followed.add_argument("run", help="its id, or the end of it")
    followed.add_argument("--after", type=int, metavar="SEQ", help="begin behind this")
    followed.add_argument(
        "--lines", type=int, default=10, help="how many to begin with"
    )

    waiting = command("queue", queue.print_queue, "what waits for a person")
    waiting.add_argument("--kind", help="pause, confirmation, question …")
    waiting.add_argument("--limit", type=int, default=50, metavar="N")

    shown = command(
        "show", queue.print_review, "one review with all that is to be judged"
    )
    shown.add_argument("id", help="its id, or the end of it")

    for action, help_text in RULINGS.items():
        ruling = command(action, queue.rule, help_text)
        _add_ruling_arguments(ruling, action)
        if action == "approve":
            _add_allowance_arguments(ruling)
    amend = command("amend", queue.rule, "let a changed call run instead")
    _add_ruling_arguments(amend, "amend")
    instead = amend.add_mutually_exclusive_group(required=True)
    instead.add_argument("--command", metavar="TEXT", help="the command to run")
    instead.add_argument("--arguments", metavar="JSON", help="the tool's arguments")
    answer = command("answer", queue.rule, "answer an agent's question")
    _add_ruling_arguments(answer, "answer")
    answer.add_argument("text", help="the answer")

    revoked = command(
        "revoke", runs.revoke_allowances, "take back what a run need not ask about"
    )
    revoked.add_argument("run", help="its id, or the end of it")
    revoked.add_argument(
        "allowance", nargs="?", help="its id or its gate; left out: all of them"
    )

    told = command("tell", runs.tell_agent, "write to a running agent, which goes on")
    told.add_argument("run", help="its id, or the end of it")
    told.add_argument("text", help="what the agent reads, under your name")
    told.add_argument(
        "--tag", action="append", default=[], help="a word for what it is about"
    )

    listed = command("halts", halts.print_halts, "what is halted")
    listed.add_argument("--all", action="store_true", help="also what was released")
    stopped = command("halt", halts.halt, "stop everything of a scope at once")
    _add_halt_arguments(stopped)
    released = command("release", halts.release, "let what is halted go on (manager)")
    released.add_argument("id", help="the halt's id")
    released.add_argument("--reason", required=True, help="why it is safe again")
    for name in ("agent", "label"):
        released.add_argument(
            f"--keep-{name}",
            action="append",
            default=[],
            metavar=name.upper(),
            help=f"keep this {name} halted",
        )

    command(
        "doctor", doctor.run_doctor, "what is wrong with the set-up, and how to mend it"
    )
    return parser


def _get_version() -> str:
    from checkrail.version import __version__

    return f"checkrail {__version__}"


def _add_ruling_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    from checkrail.cli.queue import NEEDS_NOTE

    parser.set_defaults(action=action)
    parser.add_argument("id", help="the review's id, or the end of it")
    parser.add_argument(
        "--note",
        default="",
        required=action in NEEDS_NOTE,
        help="your reason; the agent reads it",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask again")


def _add_halt_arguments(parser: argparse.ArgumentParser) -> None:
    scope = parser.add_mutually_exclusive_group(required=True)
    scope.add_argument("--project", action="store_true", help="the whole project")
    scope.add_argument("--agent", metavar="NAME", help="all runs of an agent")
    scope.add_argument("--label", metavar="NAME:VALUE", help="all runs with a label")
    scope.add_argument("--run", metavar="ID", help="one run")
    parser.add_argument(
        "--children", action="store_true", help="also the runs below the run"
    )
    parser.add_argument("--reason", required=True, help="why; agents and people see it")
    parser.add_argument(
        "--in", dest="in_project", metavar="PROJECT", help="where you have several"
    )


def _add_allowance_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--steps", type=int, metavar="N", help="of a pause: for the next N steps"
    )
    parser.add_argument(
        "--minutes", type=int, metavar="M", help="of a pause: for the next M minutes"
    )
    parser.add_argument(
        "--up-to", type=float, metavar="VALUE", help="a higher value asks again"
    )
