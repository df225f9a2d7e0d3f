"""What is alike in the queue, as one row: on a page and in updates."""
