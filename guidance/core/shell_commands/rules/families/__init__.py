"""Rules beyond destruction: what is read, sent, kept running, raised, or run from afar."""
