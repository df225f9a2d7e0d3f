"""One decision on several reviews, each of which stands or falls alone."""
