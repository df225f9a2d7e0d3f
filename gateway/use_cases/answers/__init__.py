"""What agents are answered, from what was stored."""
