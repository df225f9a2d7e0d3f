"""Reading and judging SQL."""
