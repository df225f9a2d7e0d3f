"""The open reviews as people find them: order, floods, who waits, counts."""
