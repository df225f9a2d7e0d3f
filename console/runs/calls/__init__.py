"""The tool calls of a run, each with its whole life."""
