"""An MCP server over stdio: `checkrail mcp`, with the extra `mcp`.

It reports and asks. There is no tool by which an agent decides.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

# An agent has to hear of an outage before its client gives up on the call, commonly
# after a minute.
OFFLINE_SECONDS = 40


def main(words: Sequence[str] = ()) -> int:
    """Serve on stdin and stdout until the client closes them."""
    parser = ArgumentParser(prog="checkrail mcp", description=main.__doc__)
    parser.add_argument(
        "--run",
        default=os.environ.get("CHECKRAIL_RUN"),
        help="the run to report to; else CHECKRAIL_RUN, else the agent starts its own",
    )
    parser.add_argument(
        "--task",
        default=os.environ.get("CHECKRAIL_TASK", ""),
        help="the task of a run that the agent does not name; else CHECKRAIL_TASK",
    )
    options = parser.parse_args(words)
    # Here and not above: the command line must start before it is known what it is for.
    from checkrail.async_client import AsyncCheckrail
    from checkrail.errors import ConfigurationError
    from checkrail.mcp.session import Session

    try:
        checkrail = AsyncCheckrail(
            offline_seconds=OFFLINE_SECONDS, retry_seconds=OFFLINE_SECONDS
        )
        session = Session(checkrail, run_id=options.run, task=options.task)
        from checkrail.mcp.server import serve
    except ConfigurationError as error:
        return _report_error(str(error))
    except ModuleNotFoundError as missing:
        return _report_error(
            f"{missing}. Install it: pip install './client[mcp]', in a clone of Checkrail"
        )
    serve(session)
    return 0


def _report_error(why: str) -> int:
    sys.stderr.write(f"checkrail mcp: {why}\n")
    return 2
