"""Words that look like others: letters beyond ASCII, two spellings, coded host names."""
