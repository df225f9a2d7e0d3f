"""Coding agents governed through their hooks: their words in, our decisions out.

Each event of a hook is a use case made of those in `gateway.use_cases`; what comes of it is
an `Outcome`, which `replies` puts into the words of Claude Code or Codex.
"""
