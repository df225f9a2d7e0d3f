"""Pages of drafts that run beside the version in force."""
