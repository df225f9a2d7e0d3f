"""What is known of a run: reports, usage, memory, and what is measured over them."""
