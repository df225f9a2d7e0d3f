"""What an agent's key may do: by its scopes, judged on method and address alone."""

from __future__ import annotations

from accounts.auth import AgentPrincipal, Principal
from accounts.models import Scope as KeyScope
from common.errors import Forbidden
from config.fastpath.asgi import Scope

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_SCOPES = (
    ("/api/v1/loop/", KeyScope.LOOP.value),
    ("/api/v1/evaluate/", KeyScope.EVALUATE.value),
)
# Everything else that agents send is about runs.
_RUNS = KeyScope.RUNS.value


def check_scope(principal: Principal, scope: Scope) -> None:
    """Raise Forbidden where the key lacks the scope; reading needs none."""
    if not isinstance(principal, AgentPrincipal) or scope["method"] in _READING:
        return
    path: str = scope["path"]
    needed = _RUNS
    for start, name in _SCOPES:
        if path.startswith(start):
            needed = name
    if needed not in principal.scopes:
        held = ", ".join(sorted(principal.scopes)) or "none"
        raise Forbidden(f"This needs a key with the scope {needed}; yours has {held}.")
