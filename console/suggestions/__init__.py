"""What the history of a policy suggests: limits with their trade-off, and tool rules."""
