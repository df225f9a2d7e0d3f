"""Programs of Node that tests run: generators, a linter, and the real coding agents."""
