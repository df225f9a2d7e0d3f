"""What OpenTelemetry tells of agents: spans read, and what they mean to us."""
