"""Where data goes: this machine, the own network, or somewhere else."""

from __future__ import annotations

import re

_LOCAL = re.compile(
    r"(?:[a-z]+://)?(?:[^@/]*@)?(?:localhost|127\.[\d.]+|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|[\w.-]+\.(?:local|localhost|test))?(?::\d+)?(?:[/?].*)?",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    r"(?:[a-z]+://)?(?:[^@/]*@)?[\w-]+(?::\d+)?(?:[/?].*)?", re.IGNORECASE
)
PASTE = re.compile(
    r"(?:ix\.io|0x0\.st|transfer\.sh|pastebin\.com|paste\.rs|dpaste\.\w+|termbin\.com|file\.io|bashupload\.com|webhook\.site"
    r"|requestbin\S*|pipedream\.net|oast\.\w+|interact\.sh|burpcollaborator\.net|sprunge\.us|hastebin\.com|rentry\.co|gofile\.io"
    r"|temp\.sh|oshi\.at|catbox\.moe|discord(?:app)?\.com/api/webhooks|api\.telegram\.org)",
    re.IGNORECASE,
)
PUBLIC_FILE = re.compile(
    r"(?:.*/)?(?:fixtures?|tests?|testdata|examples?|samples?|mocks?|dist|build|public|site|out|assets|_site)(?:/.*)?",
    re.IGNORECASE,
)

_REQUEST_FILE = re.compile(r".*\.(?:json|graphql|xml)")


def is_request_file(path: str) -> bool:
    """Made to be sent: the body of a request, a fixture, something built."""
    return (
        PUBLIC_FILE.fullmatch(path) is not None
        or _REQUEST_FILE.fullmatch(path) is not None
    )


def is_local(address: str) -> bool:
    """This machine, or a name that only the own network knows."""
    return (
        _LOCAL.fullmatch(address) is not None or _INSIDE.fullmatch(address) is not None
    )
