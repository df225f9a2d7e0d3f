"""The tab of the queue with what is decided, and what became of one ruling."""
