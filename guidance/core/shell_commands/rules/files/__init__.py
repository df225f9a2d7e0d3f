"""Rules about files: deleted, emptied, overwritten."""
