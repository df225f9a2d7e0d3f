"""How fast is it? Every figure beside a limit or a peer measured in the same run."""

from __future__ import annotations
