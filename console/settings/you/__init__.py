"""The tab You: one person's own tokens, sign-ins and password."""
