"""Which dependencies a change of a manifest, or an install command, adds."""

from __future__ import annotations

from guidance.core.outcomes.dependencies.installs import list_installed
from guidance.core.outcomes.dependencies.manifests import list_added

__all__ = ["list_added", "list_installed"]
