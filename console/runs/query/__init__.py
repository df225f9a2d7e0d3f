"""The query of the run list: a line of text, and the filter that it means. Pure."""
