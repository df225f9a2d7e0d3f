"""What agents send: runs, steps, tool calls, checks, hooks and telemetry."""
