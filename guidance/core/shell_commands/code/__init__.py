"""Programs on the command line: what they delete, what they run."""
